#pragma once

#include <priornet/core/progress.h>
#include <priornet/experiments/image_experiment.h>
#include <priornet/experiments/model_comparison.h>
#include <priornet/experiments/uncertainty_parts.h>
#include <priornet/runs/evaluation_report.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace priornet {

struct ModelResult {
  PlannedModel plan;
  double training_seconds = 0.0;  ///< over all epochs of all its networks
  double evaluation_seconds = 0.0;
  EvaluationReport report;  ///< the folder of its run is given from that of the results
  /// Of an ensemble of Prior Networks: the in-distribution set, then the others. Else empty.
  std::vector<UncertaintyParts> uncertainties;
};

/// A set that is not there, and how to get it.
struct MissingSet {
  PlannedSet plan;
  std::string remedy;
};

/// One seed of an experiment.
struct ImageResult {
  ImageExperiment experiment;
  std::vector<ModelResult> models;  ///< as planned
  std::vector<PlannedSet> outside;  ///< those that are there: the order of Evaluation::outside
  std::vector<MissingSet> missing;
  std::vector<ModelComparison> comparisons;  ///< as planned, a set each
  Dataset inside;                            ///< the images behind the scores, for pictures of them
  std::vector<Dataset> outside_sets;
  double preparation_seconds = 0.0;  ///< before the first training: sets loaded, fitted, compared
};

struct ImageRunOptions {
  torch::Device device = torch::kCPU;
  std::filesystem::path runs;  ///< networks are left in RUNS/RUN
  /// Folders like `runs` of other experiments: a finished run of the same configuration is taken from there.
  std::vector<std::filesystem::path> other_runs;
  std::function<Dataset(const std::string& name)> load;  ///< none: load_set
  std::function<bool()> stop;                            ///< as TrainerOptions has it
};

/// What came of the model at this place of the first seed's, seed by seed: an ensemble may be of the first alone.
std::vector<const ModelResult*> results_of_model(const std::vector<ImageResult>& seeds, size_t model);

/// Trains what is not trained yet and evaluates it all. A run that was stopped goes on where it was, a finished one is
/// taken as it is; one of another configuration is refused. AbsentSet where the sets that are trained and tested on are
/// not there; other sets may be missing. Throws what train() and evaluate() throw.
ImageResult run_image_experiment(const ImageExperiment& experiment, const ImageRunOptions& options, Progress& progress);

}  // namespace priornet
