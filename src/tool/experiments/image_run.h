#pragma once

#include <priornet/learning/config.h>
#include <priornet/learning/evaluation.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/scoring.h>
#include <priornet/uncertainty/detection.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/experiments/experiment.h"
#include "tool/experiments/planned_networks.h"
#include "tool/experiments/published.h"
#include "tool/report/table.h"

// An experiment on images as data: which networks are trained and evaluated, on which sets, beside which published
// cells.

namespace priornet {

struct PlannedSet {
  std::string title;      ///< as the tables name it
  std::string set;        ///< by name (load_set.h)
  std::string published;  ///< as the paper's tables name it; empty: not in the paper
  /// For a set that the catalogue does not have: what belongs into the folder of its name in the data root.
  std::string by_hand = {};
  /// AUPR rises with the share of positives: counted as if there were as many inputs of each kind, or as they are.
  bool balanced = true;
};

/// Two models to be compared on every out-of-distribution set, each by a measure of its own.
struct PlannedComparison {
  std::string model;
  std::string measure;  ///< a column of `priornet measure`
  std::string against;
  std::string against_measure;
  bool operator==(const PlannedComparison&) const = default;
};

struct ImageResult;

/// How well a measure finds the out-of-distribution images that measures are chosen by.
struct ValidationAuroc {
  std::string measure;
  double auroc = 0.0;
};

struct ImageExperiment {
  std::string name;   ///< "mnist"
  std::string title;  ///< of the report
  std::string lead;   ///< what it is, in a sentence
  uint64_t seed = 1;
  std::string inside;  ///< the set that errors and in-distribution scores are given on
  std::string inside_title;
  std::vector<PlannedModel> models;
  std::vector<PlannedSet> outside;
  std::vector<PlannedComparison> comparisons;
  /// Another experiment that has some of the models on the same sets: rows of its results.json are kept too.
  std::string kin_name, kin_title;
  std::span<const PublishedRow> published;
  /// For the DPN: its published M.I. is most likely the entropy, and is counted apart.
  bool paper_gives_entropy_as_information = false;
  bool is_noise_table = false;       ///< compared with the paper's table on noise: AUROC alone, one row per sigma
  BootstrapOptions bootstrap;        ///< of the intervals
  std::vector<std::string> remarks;  ///< remarks about the recipe for readers of the tables
  std::vector<std::string> only;     ///< the models that are trained and evaluated, by name; empty: all
  std::map<std::string, std::vector<ValidationAuroc>> validation;  ///< by model, if measures are chosen by it
  /// Its own tables instead of the paper's, from one result per seed; none: the paper's.
  std::function<std::vector<Table>(const std::vector<ImageResult>& seeds)> tables = {};
};

// The three uncertainties of an ensemble of Prior Networks, apart (docs/math.md, section 4): data, E H[p(y|mu)];
// distributional, E I[y, mu | theta]; model, I[y, theta]. They add up to the entropy of the mean.

constexpr std::array<std::string_view, 3> kUncertaintyParts = {"data", "distributional", "model"};

/// The parts for one set, by kUncertaintyParts.
struct UncertaintyParts {
  std::array<double, 3> mean{};     ///< nats
  std::array<Estimate, 3> auroc{};  ///< against the in-distribution set, with DeLong's interval; 0 for that set itself
};

/// Whether scores are those of an ensemble of Dirichlets.
bool has_uncertainty_parts(const SetScores& scores);

/// The in-distribution set, then each of the others. ArgumentError unless the scores have the columns.
std::vector<UncertaintyParts> uncertainty_parts(const SetScores& inside, const std::vector<SetScores>& outside);

/// Two models on the same inputs.
struct ModelComparison {
  PlannedComparison plan;
  std::vector<PairedAuroc> sets;  ///< one per set: out-of-distribution detection; NaN if a kept row lacks the set
};

/// DeLong's paired test on each out-of-distribution set of two evaluations of the same sets, each model by a measure of
/// its own, confidences negated. ArgumentError if one has no such measure.
std::vector<PairedAuroc> compare_detection(const Evaluation& first, std::string_view first_measure,
                                           const Evaluation& second, std::string_view second_measure);

/// First less second, with its 95 % interval, whose ends are NaN if the difference cannot be tested.
Estimate difference(const PairedAuroc& pair);

struct ModelResult {
  PlannedModel plan;
  double training_seconds = 0.0;  ///< over all epochs of all its networks
  int64_t restarts = 0;           ///< of all its networks
  double evaluation_seconds = 0.0;
  EvaluationReport report;  ///< the folder of its run is given relative to that of the results
  /// For an ensemble of Prior Networks: the in-distribution set, then the others. Else empty.
  std::vector<UncertaintyParts> uncertainties;
  std::vector<ValidationAuroc> validation;  ///< ImageExperiment::validation
  /// For a row that was kept from an earlier run: that run, and its configuration as recorded there. A kept row has no
  /// scores. A set that it was not evaluated on has size 0, no detection, and parts that are NaN.
  std::shared_ptr<const RunRecord> kept = {};
  std::string recorded_config = {};

  bool has_set(size_t outside) const { return report.evaluation.outside[outside].size > 0; }
};

/// A missing set, and how to get it.
struct MissingSet {
  PlannedSet plan;
  std::string remedy;
};

/// One seed of an experiment.
struct ImageResult {
  ImageExperiment experiment;
  std::vector<ModelResult> models;  ///< in the order of the plan
  std::vector<PlannedSet> outside;  ///< those that exist: the order of Evaluation::outside
  std::vector<MissingSet> missing;
  std::vector<ModelComparison> comparisons;  ///< those planned whose models are both here
  Dataset inside;                            ///< the images behind the scores, for pictures of them
  std::vector<Dataset> outside_sets;
  double preparation_seconds = 0.0;  ///< before the first training: sets loaded, fitted, compared
};

struct ImageRunOptions {
  torch::Device device = torch::kCPU;
  std::filesystem::path runs;  ///< networks are stored in RUNS/RUN
  /// Folders like `runs` of other experiments: a finished run of the same configuration is taken from there.
  std::vector<std::filesystem::path> other_runs;
  std::function<Dataset(const std::string& name)> load;  ///< none: load_set
  std::function<bool()> stop;                            ///< as in TrainerOptions
};

/// One model in all seeds that have it: only the first may have an ensemble.
struct ModelOfSeeds {
  PlannedModel plan;                      ///< of the first of them
  std::vector<const ModelResult*> seeds;  ///< at least one
};

/// In the order of the first seed's plan. A model is known by its name and its noise.
std::vector<ModelOfSeeds> models_of_seeds(const std::vector<ImageResult>& seeds);

/// Whether the experiment trains and evaluates it.
bool is_chosen(const ImageExperiment& experiment, const std::string& model);
/// Whether it trains and evaluates any.
bool has_chosen(const ImageExperiment& experiment);

/// The names of all models of these plans, each once.
std::vector<std::string> model_names(const std::vector<ImageExperiment>& plans);

/// Trains what is not trained yet and evaluates it: the models that the experiment has chosen, which should be some. A
/// teacher that is needed is trained, but evaluated only if it is chosen. A run that was stopped goes on, a finished
/// one is taken as it is; one of another configuration is refused. AbsentSet if the sets for training and testing are
/// missing; other sets may be missing. Throws what train() and evaluate() throw.
ImageResult run_image_experiment(const ImageExperiment& experiment, const ImageRunOptions& options, Progress& progress);

/// The experiment of one seed.
using PlanOfSeed = std::function<ImageExperiment(uint64_t seed)>;

/// `run` with the device, folder and stop that the options ask for.
ImageRunOptions run_options(const ExperimentOptions& options, ImageRunOptions run);

/// Where experiments of these names, in the folders beside `out`, store their networks.
std::vector<std::filesystem::path> runs_beside(const std::filesystem::path& out, const std::vector<std::string>& names);

/// For an experiment that takes networks from there.
ImageRunOptions with_runs_beside(const ExperimentOptions& options, const std::vector<std::string>& names);

/// The plan of every seed of the options, with the models that they choose; seeds that have none of them are left out.
/// ConfigError for a name that no plan has.
std::vector<ImageExperiment> chosen_plans(const PlanOfSeed& plan, const ExperimentOptions& options);

/// What is left to train for the models that an experiment chooses: its plans, one per seed, as in reproduce_images;
/// `run` likewise. Writes OUT/plan (planned_networks.h). AbsentSet if a set for training is missing.
std::vector<TrainingCommand> plan_images(const std::vector<ImageExperiment>& plans, const ExperimentOptions& options,
                                         ImageRunOptions run);

/// Runs it for every seed and the models that the options choose. If they choose some, rows of the others that
/// OUT/results.json holds are kept (stored_images.h), and their curves in OUT/curves.json. Writes results.json,
/// curves.json and images.json (of the first seed), table.md, table.tex, table.csv and report.html; networks stay below
/// OUT/runs and are used again. `run` says where the sets come from and which other runs may be used; device, folder
/// and stop are those of `options`.
ExperimentSummary reproduce_images(const PlanOfSeed& plan, const ExperimentOptions& options, ImageRunOptions run,
                                   Progress& progress);

}  // namespace priornet
