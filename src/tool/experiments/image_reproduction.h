#pragma once

#include <functional>

#include "tool/experiments/experiment.h"
#include "tool/experiments/image_experiment.h"
#include "tool/experiments/image_run.h"

namespace priornet {

/// The experiment of one seed.
using PlanOfSeed = std::function<ImageExperiment(uint64_t seed)>;

/// `run` with the device, folder and stop that the options ask for.
ImageRunOptions run_options(const ExperimentOptions& options, ImageRunOptions run);

/// Where experiments of these names, in the folders beside `out`, leave their networks.
std::vector<std::filesystem::path> runs_beside(const std::filesystem::path& out, const std::vector<std::string>& names);

/// Runs it for every seed and writes results.json, curves.json and images.json (of the first seed), table.md,
/// table.tex, table.csv and report.html; networks are left below OUT/runs and used again. `run` says where the sets
/// come from and which other runs may be used; device, folder and stop are those of `options`.
ExperimentSummary reproduce_images(const PlanOfSeed& plan, const ExperimentOptions& options, ImageRunOptions run,
                                   Progress& progress);

}  // namespace priornet
