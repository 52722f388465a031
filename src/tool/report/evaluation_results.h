#pragma once

#include <priornet/learning/evaluation.h>

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/report/model_report.h"
#include "tool/report/results_folder.h"
#include "tool/report/table.h"

namespace priornet {

/// results.json, curves.json, examples.json and, for images, images.json: the files that a page of an evaluation is
/// made from (read_results). DataError for a folder that cannot be written to.
void write_evaluation(OutputFolder& out, const ModelReport& report, const EvaluatedSets& sets, const RunRecord& record);

/// For people: the classifier; misclassification and rejection; one table per out-of-distribution set with its
/// trivial-statistics number; the comparison, if there is one. Shares in percent, 95 % intervals in brackets.
/// `calibrated`: the model is, so the tables say that their probabilities are those from before.
std::vector<Table> evaluation_tables(const EvaluationReport& report, bool calibrated = false);

/// The report as to_json() has it; "in_distribution" also says whether its "probabilities" are those "before
/// calibration" or "as given".
nlohmann::ordered_json evaluation_json(const ModelReport& report);

/// For machines: one row for each task, set and measure, with its metrics and intervals as fractions.
Table evaluation_rows(const EvaluationReport& report);

/// Inputs with what the model says about them, so that a reader sees examples behind the numbers: accepted, wrong but
/// accepted, handed back by cause, foreign and handed back, foreign but accepted. A group has at most eight, or one per
/// set if there are more sets, drawn by the evaluation's seed; an empty group is left out. {"groups": [{"name",
/// "title", "meaning", "total", "inputs"}]}; an input has its "set", "row" (from 0), "prediction", "probability",
/// "rival" (the second class) with "rival_probability", "label" if the set has labels of the model's classes, "p_value"
/// if the model is calibrated, "verdict_by" if one of its measures or detectors rejected it, and either "picture", a
/// PNG of at most 96 pixels per side in base64, or "columns", the eight that lie farthest from the mean of the training
/// set: [{"name", "value", "deviations"}]. The columns of a table are those of the user; a level, a truth value or a
/// missing value is a text without deviations, and has "rare" if few training inputs have it.
nlohmann::ordered_json examples_json(const ModelReport& report, const EvaluatedSets& sets);

}  // namespace priornet
