#pragma once

#include <priornet/deploy/predictor.h>
#include <priornet/uncertainty/decision.h>

#include <utility>

// Operating points from held-out in-distribution inputs. One half of them says how rare a value of a measure is, and
// gives the temperature; the other how rare the rarest of an input's values is. As the second half and an input like
// it are exchangeable, the p-values hold for any network, any measure and any number of inputs (docs/deploy.md).

namespace priornet {

/// What a network's measures watch for, by their causes in the table of measures. A Dirichlet: unfamiliar by its
/// differential entropy, ambiguous by the expected entropy, and with several members undecided by their mutual
/// information with the class. A softmax alone cannot tell apart why it is unsure: unfamiliar by its energy, ambiguous
/// by the (expected) entropy, and with several members undecided by the mutual information.
std::vector<std::pair<Verdict, std::string>> watched_measures(bool dirichlet, bool several);

struct CalibrationOptions {
  double false_alarm = 0.05;
  uint64_t seed = 0;  ///< of the halves
};

/// The rows of the two halves, int64, of `size` inputs.
struct CalibrationHalves {
  torch::Tensor reference;
  torch::Tensor combined;
};
CalibrationHalves calibration_halves(int64_t size, uint64_t seed);

/// `said`: what the model, not calibrated yet, says of the inputs; `labels`: int64 [N], theirs, or undefined, which
/// leaves the temperature at 1. ArgumentError for fewer than 2 inputs, labels that do not fit them, a rate that is not
/// between 0 and 1, or where nothing, or what the model does not give, is watched.
OperatingPoints calibrate(const Predictions& said, const torch::Tensor& labels,
                          const std::vector<std::pair<Verdict, std::string>>& watched,
                          const CalibrationOptions& options);

/// The T under which softmax(logits / T), the mean over members of [M, N, K], gives the labels, and one row more whose
/// label could be any, the largest likelihood; between 1/20 and 20.
double fit_temperature(const torch::Tensor& logits, const torch::Tensor& labels);

/// How many calibration inputs it takes before anything is rejected at that rate.
int64_t least_calibration_size(double false_alarm);

}  // namespace priornet
