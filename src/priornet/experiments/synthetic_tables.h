#pragma once

#include <priornet/experiments/run_record.h>
#include <priornet/experiments/synthetic.h>
#include <priornet/report/table.h>

#include <string>
#include <vector>

// The numbers of the synthetic experiment, from one result a seed. With one seed AUROCs come with their 95 % interval,
// with several as mean and standard deviation over the seeds.

namespace priornet {

/// AUROC of each uncertainty for telling in-distribution test points from points outside.
Table detection_table(const std::vector<SyntheticResult>& results);

/// Accuracy of the networks beside the best that is possible.
Table accuracy_table(const std::vector<SyntheticResult>& results);

/// Everything, as JSON: options, one entry a seed, and under "run" how it was made, the only part that differs
/// between two runs of the same options.
std::string to_json(const std::vector<SyntheticResult>& results, const RunRecord& record);

}  // namespace priornet
