#pragma once

#include <priornet/learning/odin.h>
#include <priornet/learning/scoring.h>
#include <priornet/learning/trivial_statistics.h>
#include <priornet/uncertainty/detection.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// All results of a run on an in-distribution set and any number of other sets.

namespace priornet {

struct EvaluationOptions {
  ScoringOptions scoring;
  BootstrapOptions bootstrap;   ///< of the intervals; fewer replicates take less time
  std::filesystem::path cache;  ///< a folder for score files; empty: none
  /// trivial_detection of the sets, if it is known already: it is the same for every run. Empty: evaluate() computes
  /// it.
  std::vector<StatisticAuroc> trivial = {};
};

/// How well a score of the run detects. Positives: misclassified, or out-of-distribution inputs.
struct MeasureDetection {
  std::string measure;  ///< a column of SetScores; confidences count negated
  Detection detection;
  double aupr_negatives = 0;  ///< AUPR of the negatives (right, or in-distribution inputs) by the score reversed
};

/// What rejecting by a measure gains (curves.h).
struct MeasureRejection {
  std::string measure;
  double area = 0;                        ///< AURC
  double excess = 0;                      ///< E-AURC
  double prediction_rejection_ratio = 0;  ///< NaN where nothing, or everything, is misclassified
};

struct InsideEvaluation {
  std::string name;
  int64_t size = 0;
  int64_t errors = 0;
  double error = 0;                    ///< share of rows
  double negative_log_likelihood = 0;  ///< nats per row
  double brier = 0;
  double calibration_error = 0;           ///< ECE, 15 bins of equal width
  double adaptive_calibration_error = 0;  ///< 15 bins of equal count
  /// One row per measure; empty if nothing, or everything, is misclassified.
  std::vector<MeasureDetection> misclassification;
  std::vector<MeasureRejection> rejection;
};

struct OutsideEvaluation {
  std::string name;
  int64_t size = 0;
  std::vector<MeasureDetection> detection;  ///< one row per measure
  StatisticAuroc trivial;                   ///< what tells the two sets apart best without any network (data compare)
};

struct Evaluation {
  ScoringOptions scoring;  ///< how the scores were computed
  InsideEvaluation inside;
  std::vector<OutsideEvaluation> outside;
  torch::Tensor wrong;      ///< bool [N]: the rows of the in-distribution set that are misclassified
  SetScores inside_scores;  ///< for callers that need more, such as a paired comparison
  std::vector<SetScores> outside_scores;
};

/// `inside` has labels of the run's classes, matched by name where both have names; the sets are fitted to the run
/// (fit_to_run). DataError, which begins with the set's name: no labels, a label of no class of the run, an empty set,
/// a set that cannot be fitted.
Evaluation evaluate(TrainedRun& run, const Dataset& inside, const std::vector<Dataset>& outside,
                    const EvaluationOptions& options, Progress& progress);

/// Scores of a set that were computed elsewhere: of logits, say (scores_of_logits()).
struct ScoredSet {
  std::string name;
  SetScores scores;
};

/// The same for scores; `labels`: int64 [N], of `inside`. The inputs themselves are not known, so the trivial
/// statistics have no name. ArgumentError for labels that do not fit.
Evaluation evaluate_scores(const ScoredSet& inside, const torch::Tensor& labels, const std::vector<ScoredSet>& outside,
                           const BootstrapOptions& bootstrap, Progress& progress);

/// The labels of a set, int64 [N], as the run numbers its classes: two files of one problem need not list them in one
/// order. DataError as in evaluate().
torch::Tensor labels_for(const TrainedRun& run, const Dataset& set);

/// What tells each outside set from the inside set best without any network. The sets are already fitted to the run's
/// network, or hold what it takes.
std::vector<StatisticAuroc> trivial_detection(const Dataset& inside, const std::vector<Dataset>& outside);

/// The values of a column, confidences negated: high if the run is unsure.
torch::Tensor uncertainty(std::string_view measure, const torch::Tensor& values);

/// The row of a measure; nullptr if there is none.
const MeasureDetection* find_measure(const std::vector<MeasureDetection>& rows, std::string_view measure);

/// One task and measure, by two runs.
struct ComparedMeasure {
  std::string set;  ///< the out-of-distribution set; empty: misclassification
  std::string measure;
  PairedAuroc auroc;
};

/// Two evaluations of the same sets, for every measure that both have: out-of-distribution detection by DeLong's paired
/// test; misclassification, where each run has positives of its own, by the same components of each input
/// (docs/math.md, section 9). A task that one of them does not have (no errors) is left out. ArgumentError unless names
/// and sizes of the sets are the same.
std::vector<ComparedMeasure> compare_runs(const Evaluation& first, const Evaluation& second);

/// An evaluation and its origin: what `priornet evaluate` writes.
struct EvaluationReport {
  std::string run;         ///< the folder
  std::string method;      ///< as configurations name it
  int64_t members = 1;     ///< networks
  std::string checkpoint;  ///< "last" or "best"
  std::string weights;     ///< TrainedRun::identity
  Evaluation evaluation;

  struct Odin {
    OdinChoice choice;
    std::string inside;   ///< the inside set that it was chosen on
    std::string outside;  ///< the outside set that it was chosen on
  };
  std::optional<Odin> odin;

  std::string against;  ///< the folder of the run it is compared with; empty: none
  std::vector<ComparedMeasure> comparison;
};

/// Everything in it but the scores of the inputs, fractions at full precision; a number that is not finite is null.
std::string to_json(const EvaluationReport& report);

}  // namespace priornet
