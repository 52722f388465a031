#pragma once

#include <priornet/data/dataset.h>
#include <priornet/experiments/run_record.h>
#include <priornet/runs/evaluation_report.h>

#include <vector>

namespace priornet {

/// The sets of an evaluation, in its order.
struct EvaluatedSets {
  const Dataset& inside;
  const std::vector<Dataset>& outside;
};

/// Leaves results.json, curves.json and, of images, images.json in RUN/evaluation, where `priornet report RUN` finds
/// them. A run that may only be read is left as it is.
void leave_evaluation(const EvaluationReport& report, const EvaluatedSets& sets, const RunRecord& record);

}  // namespace priornet
