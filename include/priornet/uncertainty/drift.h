#pragma once

#include <priornet/uncertainty/decision.h>

#include <array>
#include <cstdint>
#include <vector>

// Whether a stream of inputs stopped looking like the calibration set: a test martingale on their conformal p-values
// (docs/math.md, section 10).

namespace priornet {

/// The state of a DriftWatch.
struct DriftState {
  double value = 1.0;       ///< of the martingale; stops at 1e300
  double largest = 1.0;     ///< value so far: 1 / largest is a p-value of "no drift", whenever one looks
  int64_t inputs = 0;       ///< seen
  int64_t alarm_input = 0;  ///< which of them (1, 2, ...) raised the alarm, value >= 1 / rate; 0: none did

  bool alarmed() const { return alarm_input > 0; }
};

/// Watches one stream. Its value starts at 1 and grows if p-values are smaller than those of inputs like the
/// calibration set. Without drift, the probability that it ever reaches 1 / rate is at most `rate`, however long the
/// stream is. Later inputs are also ranked among the earlier ones, so that the limits of one calibration set raise no
/// alarm; a stream that changes slowly enough is followed, not noticed. The order of the inputs should say nothing
/// about them: frames of one film are not such a stream. Memory: one number per calibration input. Time: logarithmic
/// per input.
class DriftWatch {
 public:
  /// Throws ArgumentError unless `rate` is between 0 and 1 and the points pass check_points().
  explicit DriftWatch(const OperatingPoints& points, double rate = 0.01);

  /// The next input: its p-value from decide(), and its predicted class, which counts if thresholds are per class.
  /// Throws ArgumentError for a p-value that decide() cannot give, or a class that is in no group.
  void add(double p_value, int64_t predicted_class);

  const DriftState& state() const { return state_; }
  double rate() const { return rate_; }

 private:
  /// How many inputs have had each of the n + 1 p-values; each began with one.
  class Ranks {
   public:
    explicit Ranks(int64_t calibration_size);
    /// Shares of all inputs so far.
    struct Shares {
      double below;  ///< with a smaller p-value
      double up_to;  ///< with this one or a smaller
    };
    /// `p_value`: 1, 2, ... in units of 1 / (n + 1). The input joins.
    Shares add(int64_t p_value);
    int64_t size() const { return static_cast<int64_t>(tree_.size()); }

   private:
    /// How many have one of the first `count` p-values.
    int64_t first(size_t count) const;

    std::vector<int64_t> tree_;  ///< Fenwick's, of counts
    int64_t total_;
  };

  static constexpr size_t kBets = 6;

  std::vector<Ranks> ranks_;  ///< one per group of classes, or one
  static constexpr size_t kNoGroup = ~size_t{0};
  std::vector<size_t> group_of_class_;
  std::array<double, kBets> capital_ = {};
  double rate_;
  DriftState state_;
};

}  // namespace priornet
