#pragma once

#include <priornet/deploy/predictor.h>
#include <priornet/uncertainty/decision.h>

#include <utility>

// Operating points from held-out in-distribution inputs. They say how rare a value of a measure is, and new inputs are
// ranked among them. The p-values hold for any network, any measure and any number of inputs (docs/deploy.md). The
// temperature comes from their labels.

namespace priornet {

/// What a network's measures watch for, by their causes in the table of measures. A Dirichlet: unfamiliar by its
/// differential entropy, ambiguous by the expected entropy, and with several members undecided by their mutual
/// information with the class. A softmax alone cannot tell apart why it is unsure: unfamiliar by its energy, ambiguous
/// by the (expected) entropy, and with several members undecided by the mutual information.
std::vector<std::pair<Verdict, std::string>> watched_measures(bool dirichlet, bool several);

struct CalibrationOptions {
  double false_alarm = 0.05;
  bool per_class = false;  ///< every predicted class has its own thresholds (operating_points())
};

/// With fewer held-out rows of a table than this, the rows that the network learnt from calibrate its detectors too.
constexpr int64_t kFewCalibrationInputs = 400;

/// `said`: what the model, not calibrated yet, says about the inputs. `labels`: int64 [N], or undefined, which leaves
/// the temperature at 1. Throws ArgumentError for fewer than 2 inputs, labels that do not fit them, a rate that is not
/// between 0 and 1, if nothing is watched, or if the model does not give a watched measure.
/// `cross_validated`: scores of detectors, float64 [N + T], that stand in for what the model says: of these N inputs
/// and of T more that the network learnt from (cross_validate(), operating_points()).
OperatingPoints calibrate(const Predictions& said, const torch::Tensor& labels,
                          const std::vector<std::pair<Verdict, std::string>>& watched,
                          const CalibrationOptions& options, const std::vector<NamedTensor>& cross_validated = {});

/// The temperature T for which softmax(logits / T), the mean over members of [M, N, K], has the largest likelihood of
/// the labels, with one more row whose label could be any; between 1/20 and 20.
double fit_temperature(const torch::Tensor& logits, const torch::Tensor& labels);

/// softmax(logits / temperature) of logits [N, K]; of [M, N, K] the mean over the members.
torch::Tensor probabilities_at(const torch::Tensor& logits, double temperature);

/// Whether some input can exceed the threshold of a watch: it is below the bound of its measure.
bool can_reject(const Watch& watch, int64_t classes);

/// The watches that can never reject an input, in words, in the order of the points and then of their groups: the
/// threshold of a bounded measure, such as an entropy, is at its bound. Empty if every watch can reject.
std::vector<std::string> unreachable_thresholds(const OperatingPoints& points, int64_t classes);

}  // namespace priornet
