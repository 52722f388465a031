#pragma once

#include <priornet/experiments/experiment.h>
#include <priornet/experiments/synthetic.h>

namespace priornet {

/// The options of a profile: `modern` trains with the reverse KL divergence.
SyntheticOptions synthetic_options(Profile profile);

/// Runs the synthetic experiment and writes figure1, figure2, figure3 and comparison (.svg and .png), results.json,
/// maps.json, table.md, table.tex, table.csv and report.html. Without gnuplot there are no figure files and a remark
/// says so. The networks are so small that the device is the CPU unless another is asked for.
ExperimentSummary reproduce_synthetic(const ExperimentOptions& options, Progress& progress);

}  // namespace priornet
