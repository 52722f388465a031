#pragma once

#include <priornet/learning/scoring.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/detection.h>
#include <torch/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/experiments/experiment.h"
#include "tool/experiments/image_plans.h"
#include "tool/experiments/stored_images.h"

// Whether the reason that a model gives for its uncertainty is the right one: how its scores relate to the disagreement
// of people, and which causes its verdicts name.

namespace priornet {

/// The entropy, in nats, of the labels that people gave: float64 [N], from counts [N, K], each row with a count above
/// 0.
torch::Tensor label_entropy(const torch::Tensor& counts);

/// The measures that are compared with people.
constexpr std::array<std::string_view, 4> kReasonMeasures = {"entropy", "expected_entropy", "mutual_information",
                                                             "differential_entropy"};

struct PeopleCorrelation {
  std::string measure;
  Estimate spearman;
};

/// Spearman's correlation of each of kReasonMeasures that the model gives with the entropy of people's labels, float64
/// [N], both of the same inputs.
std::vector<PeopleCorrelation> correlate_with_people(const SetScores& scores, const torch::Tensor& entropy,
                                                     const BootstrapOptions& options);

/// Some rows of the in-distribution set.
struct RowGroup {
  std::string title;
  torch::Tensor rows;  ///< int64
};

/// By how much people agree: all on one label, partly, or not at all (an entropy above ln 2: at least as if they were
/// split between two labels). Then all rows.
std::vector<RowGroup> groups_by_agreement(const torch::Tensor& entropy);

/// Scores of a set that is unfamiliar to the model.
struct UnfamiliarSet {
  std::string title;
  const SetScores* scores = nullptr;
};

struct VerdictShares {
  std::string group;
  int64_t images = 0;
  std::array<double, kVerdictNames.size()> shares{};  ///< by Verdict; they add up to 1
};

struct VerdictOptions {
  double false_alarm = 0.05;
  int64_t folds = 5;
  uint64_t seed = 0;  ///< of the folds, and of the halves of calibration
};

/// The verdicts of a model whose thresholds are calibrated on other in-distribution inputs than those it decides on:
/// the in-distribution set is cut into folds, and each fold is decided by thresholds from all others. An outside set is
/// decided by the thresholds of every fold; its shares are their means. Measures are watched as in `priornet calibrate`
/// (deploy/thresholds.h). Groups without rows have shares of 0. ArgumentError for fewer than 2 folds.
std::vector<VerdictShares> verdict_shares(const SetScores& inside, const std::vector<RowGroup>& groups,
                                          const std::vector<UnfamiliarSet>& outside, const VerdictOptions& options);

/// The mean over the rows with its 95 % interval, by the normal distribution.
Estimate mean_estimate(const torch::Tensor& values);

// Is the reason right? Three questions about the networks of the experiment cifar10 and some beside them: does data
// uncertainty grow with the disagreement of people (CIFAR-10H), which cause do verdicts name, and does distributional
// uncertainty fall, and data uncertainty stay, as the training set grows?

/// A model that was trained on this many different images.
struct PlannedAmount {
  std::string model;  ///< "DPN", "DNN ensemble"
  int64_t images = 0;
};

/// One seed.
struct ReasonsPlan {
  ImageExperiment models;                 ///< on CIFAR-10's test set, against unfamiliar sets
  std::string people;                     ///< the counts of people's labels, row by row for models.inside
  ImageExperiment amounts;                ///< on the same test set, against nothing
  std::vector<PlannedAmount> amounts_of;  ///< of amounts.models, in their order
};

/// The models of cifar10 by these names, then a DPN with the divergence that they lack (forward or reverse) and, with
/// the first seed, an ensemble of DNNs. All networks on part of the data take the same number of steps, with the same
/// schedule: the images are repeated until an epoch is as long as that of the largest set. ConfigError for profile
/// paper.
ReasonsPlan reasons_plan(const ImagePlanOptions& options);

/// Lets the plans, one per seed, train and evaluate only what ExperimentOptions::only names: models, networks on part
/// of the data ("DPN, 500 images"), or all of the latter ("amounts"). ConfigError for other names.
void choose_reasons(std::vector<ReasonsPlan>& plans, const ExperimentOptions& options);

struct ReasonsOfModel {
  std::string model;
  std::string run;  ///< its folder, relative to that of the results
  double error = 0.0;
  std::vector<PeopleCorrelation> people;
  std::vector<VerdictShares> verdicts;
  /// For a row that was kept from an earlier run: that run, and its configuration as recorded there.
  std::shared_ptr<const RunRecord> kept = {};
  std::string recorded_config = {};
};

struct AmountResult {
  PlannedAmount amount;
  double error = 0.0;
  Estimate data;       ///< mean expected entropy, nats
  Estimate knowledge;  ///< mean mutual information, nats: distributional for a DPN, of the model for an ensemble
  std::shared_ptr<const RunRecord> kept = {};  ///< as for a model
  std::string recorded_config = {};
};

struct ReasonsResult {
  uint64_t seed = 1;
  ReasonsPlan plan;
  std::vector<ReasonsOfModel> models;
  std::vector<AmountResult> amounts;
  std::vector<MissingSet> missing;
};

/// Trains what is not trained yet and evaluates it, as run_image_experiment does: the models and amounts that the plan
/// has chosen.
ReasonsResult run_reasons(const ReasonsPlan& plan, const ImageRunOptions& options, Progress& progress);

// What the figures show: means over seeds; a model that only the first seed has keeps its own numbers.

struct PeopleMean {
  std::string model;
  std::string measure;  ///< one of kReasonMeasures
  std::string label;    ///< of the measure, for people
  Estimate spearman;
};

struct VerdictMean {
  std::string model;
  VerdictShares shares;
};

struct ReasonsMeans {
  std::vector<PeopleMean> people;
  std::vector<VerdictMean> verdicts;
  std::vector<AmountResult> amounts;
};

ReasonsMeans means_over_seeds(const std::vector<ReasonsResult>& seeds);

/// The means that a results.json holds, whose text is given; nothing if it is of another experiment. DataError if they
/// are not as to_json() writes them.
std::optional<ReasonsMeans> stored_means(std::string_view json);

/// A table per question. One result per seed.
std::vector<Table> reasons_tables(const std::vector<ReasonsResult>& seeds);

/// Everything, as JSON (report/results_folder.h); what the report draws is under "reasons".
std::string to_json(const std::vector<ReasonsResult>& seeds, const RunRecord& record);

/// The plan of one seed.
using ReasonsPlanOfSeed = std::function<ReasonsPlan(uint64_t seed)>;

/// Results as to_json() wrote them, read back by the plan of today, whose first seed is given; as read_images().
struct StoredReasons {
  std::vector<ReasonsResult> seeds;
  RunRecord record;
  std::vector<std::string> remarks;  ///< which rows are left out, and why
};
StoredReasons read_reasons(const std::filesystem::path& folder, const ReasonsPlanOfSeed& plan, uint64_t first_seed);

/// The new results beside the stored rows of models and amounts that they do not choose.
std::vector<ReasonsResult> with_kept_rows(std::vector<ReasonsResult> results, StoredReasons stored);

/// Runs it for every seed and the models that the options choose; rows of others that OUT/results.json holds are kept,
/// as in reproduce_images(). Writes results.json, table.md, table.tex, table.csv, report.html and, if gnuplot is
/// installed, the pictures people, verdicts and amounts, each as .svg and .png. Uses the networks of finished
/// experiments `cifar10`, `cifar10-modern`, `openood` and `relatives` in the folders beside its own. AbsentSet if
/// CIFAR-10, CIFAR-100 or CIFAR-10H is missing.
ExperimentSummary reproduce_reasons(const ExperimentOptions& options, Progress& progress);
std::vector<TrainingCommand> reasons_networks(const ExperimentOptions& options);

}  // namespace priornet
