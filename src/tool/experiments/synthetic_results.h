#pragma once

#include <string>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/experiments/experiment.h"
#include "tool/experiments/synthetic.h"
#include "tool/report/table.h"

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

/// The options of a profile: `modern` trains with the reverse KL divergence.
SyntheticOptions synthetic_options(Profile profile);

/// Runs the synthetic experiment and writes figure1, figure2, figure3 and comparison (.svg and .png), results.json,
/// maps.json, table.md, table.tex, table.csv and report.html. Without gnuplot there are no figure files and a remark
/// says so. The networks are so small that the device is the CPU unless another is asked for.
ExperimentSummary reproduce_synthetic(const ExperimentOptions& options, Progress& progress);

}  // namespace priornet
