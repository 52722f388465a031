#pragma once

#include <priornet/learning/scoring.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/detection.h>
#include <torch/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Whether the reason that a model gives for its uncertainty is the right one: what its scores have to do with the
// disagreement of people, and which causes its verdicts name.

namespace priornet {

/// The entropy, in nats, of the labels that people gave: float64 [N], from counts [N, K], each row with a count above
/// 0.
torch::Tensor label_entropy(const torch::Tensor& counts);

/// The measures that are held against people.
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

/// By how much people agree: all of them on one label, more or less, or not at all (an entropy above ln 2: as if they
/// were torn between two labels, at least). Then all rows.
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

/// The verdicts of a model whose thresholds are calibrated on in-distribution inputs that it is not asked about: the
/// in-distribution set is cut into folds, and each fold is decided by thresholds from all others. A set outside is
/// decided by the thresholds of every fold; its shares are their means. Measures are watched as `priornet calibrate`
/// does (deploy/thresholds.h). Groups without rows have shares of 0. ArgumentError for fewer than 2 folds.
std::vector<VerdictShares> verdict_shares(const SetScores& inside, const std::vector<RowGroup>& groups,
                                          const std::vector<UnfamiliarSet>& outside, const VerdictOptions& options);

/// The mean over the rows with its 95 % interval, by the normal distribution.
Estimate mean_estimate(const torch::Tensor& values);

}  // namespace priornet
