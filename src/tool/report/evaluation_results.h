#pragma once

#include "learning/base/run_record.h"
#include "tool/report/model_report.h"
#include "tool/report/results_folder.h"

namespace priornet {

/// results.json, curves.json, examples.json and, for images, images.json: the files that a page of an evaluation is
/// made from (read_results). DataError for a folder that cannot be written to.
void write_evaluation(OutputFolder& out, const ModelReport& report, const EvaluatedSets& sets, const RunRecord& record);

}  // namespace priornet
