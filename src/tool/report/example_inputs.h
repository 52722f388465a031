#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tool/report/model_report.h"

namespace priornet {

/// Inputs with what the model says about them, so that a reader sees examples behind the numbers: accepted, wrong but
/// accepted, handed back by cause, foreign and handed back, foreign but accepted. A group has at most eight, drawn by
/// the evaluation's seed; an empty group is left out. {"groups": [{"name", "title", "meaning", "total", "inputs"}]}; an
/// input has its "set", "row" (from 0), "prediction", "probability", "rival" (the second class) with
/// "rival_probability", "label" if the set has labels of the model's classes, "p_value" if the model is calibrated,
/// "verdict_by" if one of its measures or detectors rejected it, and either "picture", a PNG of at most 96 pixels per
/// side in base64, or "columns", the eight that lie farthest from the mean of the training set: [{"name", "value",
/// "deviations"}].
nlohmann::ordered_json examples_json(const ModelReport& report, const EvaluatedSets& sets);

}  // namespace priornet
