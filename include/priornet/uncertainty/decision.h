#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// When to trust a prediction, and if not, which uncertainty is the reason. One measure or several watch for each cause;
// a measure's score says how rare its value is among held-out in-distribution inputs, and the largest score of an input
// has a conformal p-value: at most the chosen share of inputs like these is rejected (docs/math.md, section 10).

namespace priornet {

enum class Verdict : int64_t {
  kAccept,      ///< no uncertainty rejects the prediction
  kAmbiguous,   ///< data uncertainty: the input is like several classes
  kUnfamiliar,  ///< distributional uncertainty: the input is not like what the model learned from
  kUndecided    ///< model uncertainty: members or dropout samples disagree
};

constexpr std::array<std::string_view, 4> kVerdictNames = {"accept", "ambiguous", "unfamiliar", "undecided"};
constexpr std::string_view verdict_name(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }

/// A measure that watches for a cause, with the values it has on the calibration inputs.
struct Watch {
  Verdict cause = Verdict::kUnfamiliar;
  std::string measure;      ///< a measure or a detector whose larger values are more uncertain
  torch::Tensor reference;  ///< float64 [R], ascending
  double threshold = 0.0;   ///< above it the cause alone rejects, at the chosen false-alarm rate
  double precedence = 0.0;  ///< below 1 / R, added to its rarities: at the same rank, the watch with more is rarer
};

/// Thresholds for the inputs that are predicted as one of these classes.
struct ClassGroup {
  std::vector<int64_t> classes;  ///< ascending
  std::vector<Watch> watches;    ///< the same measures in the same order as those of the OperatingPoints
  torch::Tensor rarities;        ///< as in OperatingPoints, of the calibration inputs of the group
};

/// What calibration writes to a model file.
struct OperatingPoints {
  std::vector<Watch> watches;
  torch::Tensor rarities;          ///< float64 [C], ascending: how rare each calibration input is (operating_points())
  std::vector<ClassGroup> groups;  ///< empty, or every class is in one: then they decide, by the predicted class
  double false_alarm = 0.05;       ///< the share of in-distribution inputs that may be rejected
  double temperature = 1.0;        ///< logits are divided by it for calibrated probabilities
  std::string calibration_set;     ///< its name, for the record
  int64_t calibration_size = 0;
};

/// Measures that differ by no more than this, relative to their value, count as equal, and so do rarities. Equal values
/// reject nothing: many inputs may share a value, such as that of no evidence for any class, and other batches and
/// machines round it differently.
constexpr double kTie = 1e-12;

/// One input's decision.
struct Decision {
  Verdict verdict = Verdict::kAccept;
  double p_value = 1.0;  ///< of the input among in-distribution inputs; at most false_alarm: it is rejected
  std::string watch;  ///< the measure that rejected: the rarest of those that watch for the verdict; empty if accepted
};

/// How rare `values`, float64 [N], are for a watch: the share of the reference below them; for a value above the whole
/// reference, 1 plus how far above, in units of the reference's spread. The watch's precedence is added. float64 [N];
/// it never falls as a value grows.
torch::Tensor rarity(const Watch& watch, const torch::Tensor& values);

/// The distance from the median of the reference to its largest value; always above 0.
double spread_of(const Watch& watch);

/// The rarity above which an input is rejected; infinite if there are too few calibration inputs to reject any.
double rejection_level(const OperatingPoints& points);

/// Sets every watch's threshold, in the groups too: the largest value of its measure that does not reject.
void set_thresholds(OperatingPoints& points);

/// ArgumentError unless there are watches, each with a reference, and all vectors are finite, float64 and ascending; in
/// the groups too, and no two groups may share a class.
void check_points(const OperatingPoints& points);

/// The points that inputs of a group are judged by: those of `points` with the group's watches, and no groups.
OperatingPoints points_of_group(const OperatingPoints& points, const ClassGroup& group);

/// What a watch saw of the calibration inputs.
struct WatchedValues {
  Verdict cause = Verdict::kUnfamiliar;
  std::string measure;
  torch::Tensor values;  ///< float64 [N], in the order of the inputs
  /// float64 [T], or undefined: values for T more inputs that the network learnt from but this watch did not, as
  /// cross-validation gives them. They are like the watch's values for new inputs; the network's own measures are not.
  torch::Tensor training_values = {};
};

/// The classes that calibration inputs were predicted as, where each class is to have thresholds of its own.
struct PredictedClasses {
  torch::Tensor of_inputs;  ///< int64 [N]; undefined: one threshold for all
  int64_t classes = 0;
};

/// Operating points from N calibration inputs, by full conformal prediction: every input is part of the reference and
/// is ranked in it, a new one joins them, and P(p <= a) <= a holds exactly for any N and any watches. `rarities` holds
/// how rare each calibration input is once another input has joined the reference.
/// With predicted classes the same holds within each class that has at least 1 / false_alarm - 1 inputs. The other
/// classes share thresholds, together with the next larger classes if they are still too few; for them it holds over
/// the classes that share.
/// If some watches have `training_values`, all N + T inputs calibrate these as if all had been held out, and `rarities`
/// has N + T values. About 85 % of the rate is theirs. The measures without `training_values` are known for N inputs
/// only and share what is left: by rank if N is large enough, else by a tail that falls at least as fast as
/// exp(-sqrt(v)). Their references are thresholds at 4 (N + T) p-values. P(p <= a) <= a is a theorem if the
/// `training_values` are exchangeable with new values and the measures have such tails (docs/math.md, section 10).
/// ArgumentError for no watches, values that are not finite or not [N], a rate that is not between 0 and 1, or training
/// values that are not [T] or come with predicted classes.
OperatingPoints operating_points(const std::vector<WatchedValues>& watched, double false_alarm,
                                 const PredictedClasses& predicted = {});

/// How many calibration inputs are needed before anything can be rejected at that rate.
int64_t least_calibration_size(double false_alarm);

/// `scores`: float64 [N], one tensor per watch, in their order: the measures' values. An input is rejected if its
/// p-value, (1 + how many of `rarities` are at least its largest rarity, less kTie) / (C + 1), is at most false_alarm.
/// Its cause is the first of unfamiliar, undecided, ambiguous whose own rarity rejects: what a network says about the
/// classes, and whether its members agree, means little for inputs unlike those it learnt from. If several watches have
/// one cause, the rarest of them is named, and the first of those that are equally rare. `predictions`: int64 [N], the
/// predicted classes; needed if the points have groups. ArgumentError for other shapes, for NaN, or for a class that no
/// group has.
std::vector<Decision> decide(const OperatingPoints& points, const std::vector<torch::Tensor>& scores,
                             const torch::Tensor& predictions = {});

/// The range of the share of false alarms, once thresholds come from one calibration set.
struct FalseAlarmRange {
  double mean = 0.0;  ///< over calibration sets of this size
  double low = 0.0;   ///< below it in 2.5 % of them
  double high = 0.0;  ///< above it in 2.5 % of them
};

/// For a rule that rejects at the conformal p-value `rate`, from `values` rarities. With k = floor(rate (values + 1))
/// it rejects what is above the k-th largest of them, so that the share has the law Beta(k, values + 1 - k) if no two
/// rarities are equal, and is smaller if some are. All 0 for k = 0, where nothing is rejected. ArgumentError unless
/// `values` is above 0 and `rate` between 0 and 1.
FalseAlarmRange false_alarm_range(int64_t values, double rate);

/// The same for one calibration, with any ties among its values. With t of C rarities above the level of rejection, and
/// others equal to it, the share lies between the laws Beta(t, C + 1 - t) and Beta(t + 1, C - t): `low` and `high` are
/// the outer quantiles, `mean` is the upper law's. If some watches have more values than calibration_size, the range is
/// at least as wide as for that many values: the thresholds of the others rest on those alone. Groups are ignored
/// (points_of_group()).
FalseAlarmRange false_alarm_range(const OperatingPoints& points);

}  // namespace priornet
