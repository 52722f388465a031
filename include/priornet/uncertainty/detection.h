#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace priornet {

/// A 95 % interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// The scores of two sets of inputs that a detector should tell apart: a higher score points to
/// the positive set (for example, positive: out of distribution; score: an uncertainty). Infinities are scores.
struct ScoreSets {
  std::span<const double> positive;
  std::span<const double> negative;
};

/// ArgumentError if a set is empty, or if a score is NaN, which it names by index.
void check_scores(std::string_view function, const ScoreSets& scores);

/// The values of a tensor as metrics take them: float64, contiguous, on the CPU. It must outlive the span.
inline std::span<const double> span_of(const torch::Tensor& values) {
  return {values.data_ptr<double>(), static_cast<size_t>(values.numel())};
}

/// The order of two sets of scores, highest first: all that ranking metrics need, in one byte per score.
class Ranking {
 public:
  static constexpr uint8_t kPositive = 1;    ///< the score is of the positive set
  static constexpr uint8_t kEndOfGroup = 2;  ///< the next score is lower: a threshold may lie here

  /// Sorts. Throws as check_scores.
  explicit Ranking(const ScoreSets& scores);

  std::span<const uint8_t> order() const { return order_; }
  int64_t positives() const { return positives_; }
  int64_t negatives() const { return negatives_; }

  /// Calls visit(positives, negatives) with the counts of each group of equal scores, highest first.
  template <typename Visit>
  void for_each_group(Visit&& visit) const {
    int64_t positives = 0;
    int64_t size = 0;
    for (const auto flags : order_) {
      positives += flags & kPositive;
      ++size;
      if ((flags & kEndOfGroup) == 0) continue;
      visit(positives, size - positives);
      positives = size = 0;
    }
  }

 private:
  std::vector<uint8_t> order_;
  int64_t positives_;
  int64_t negatives_;
};

// How well a score tells a positive from a negative set. At a threshold t, the inputs with score >= t are called
// positive: tp(t) of the P positives and fp(t) of the N negatives. Thresholds are the distinct scores, so equal scores
// are one point of a curve. Recall = TPR = tp / P, FPR = fp / N, precision = tp / (tp + fp).
// One sort, then linear: ten million scores take about a second.

struct RocMetrics {
  /// P(positive > negative) + P(positive = negative) / 2 for a random pair (mid-ranks); exact.
  double auroc = 0;
  /// Area under the precision-recall curve by trapezoids: sum over thresholds t_1 > t_2 > ... of
  /// (recall_i - recall_{i-1}) (precision_i + precision_{i-1}) / 2, with recall_0 = 0 and precision_0 = precision_1.
  double aupr = 0;
  /// The same area as if both sets were of the same size: precision is then TPR / (TPR + FPR). Comparable between
  /// studies whose sets differ in size.
  double aupr_balanced = 0;
  /// The area of `aupr` by steps: sum of (recall_i - recall_{i-1}) precision_i.
  double average_precision = 0;
  /// The smallest FPR of the thresholds with TPR >= 0.95.
  double fpr95 = 0;
  /// P / (P + N): the precision of a score that knows nothing.
  double prevalence = 0;
};

RocMetrics roc_metrics(const Ranking& ranking);

/// ArgumentError as check_scores.
RocMetrics roc_metrics(const ScoreSets& scores);

double auroc(const Ranking& ranking);

// The sampling error of AUROC after DeLong, DeLong and Clarke-Pearson (1988), with the mid-rank algorithm of Sun and Xu
// (2014): sorting instead of P x N comparisons. A positive's component is the share of negatives it exceeds, a
// negative's the share of positives that exceed it, ties counting half; the variance of AUROC is the sample variance of
// the former over P plus that of the latter over N.

/// The variance of AUROC; NaN if a set has a single score.
double delong_variance(const Ranking& ranking);

/// For an area A with standard error s, the odds A / (1 - A) times exp(+-1.96 s / (A (1 - A))), as an area again: near
/// 1 it reaches further down than up, and never beyond 1. All of [0, 1] if a set has a single score. Where nothing
/// varies, n pairs of different inputs all went the same way, n = min(P, N), which is likelier than 5 % only if one
/// pair does so with a probability of at least b = 0.05^(1/n): [b, 1] if A = 1, [0, 1 - b] if A = 0, and [b / 2, 1 - b
/// / 2] if all scores are equal.
Interval delong_interval(const Ranking& ranking);

/// Two scores of the same inputs, in the same order.
struct PairedScores {
  ScoreSets first;
  ScoreSets second;
};

struct PairedAuroc {
  double first = 0;
  double second = 0;
  double first_variance = 0;
  double second_variance = 0;
  double covariance = 0;
  double difference_variance = 0;  ///< of first - second, by a sum that does not cancel
  double z = 0;                    ///< (first - second) over its standard error
  /// Two-sided, of the hypothesis that both AUROCs are equal. It and z are NaN if the AUROCs differ and the difference
  /// shows no variance, as of a score that separates the sets and one that ties them all: that cannot be tested.
  double p_value = 1;
};

/// Compares the AUROC of two scores on the same inputs. ArgumentError as check_scores, if the sets of the two scores
/// differ in size, or if a set has a single score.
PairedAuroc delong_paired(const PairedScores& scores);

/// The scores of inputs, and which of them are positive.
struct MarkedScores {
  std::span<const double> scores;
  std::span<const uint8_t> positive;  ///< 1, or 0
};

/// The same where each score has positives of its own, as the errors of two classifiers. An input contributes the
/// distance of its component from AUROC over sqrt(P (P - 1)) or sqrt(N (N - 1)); variances and covariance are sums of
/// products over the inputs, the variance of the difference one of squared differences. With the same positives it is
/// the test above. ArgumentError as there.
PairedAuroc delong_paired(const MarkedScores& first, const MarkedScores& second);

struct BootstrapOptions {
  std::optional<int64_t> replicates;  ///< at least 2; none: default_replicates
  uint64_t seed = 0;                  ///< the same seed gives the same intervals, whatever the number of threads
};

/// 1000, or 200 for more than a million scores, whose intervals are narrow anyway.
int64_t default_replicates(const Ranking& ranking);

/// For the members of RocMetrics that have no closed formula.
struct BootstrapIntervals {
  Interval aupr;
  Interval aupr_balanced;
  Interval average_precision;
  Interval fpr95;
};

/// Percentile intervals: the 2.5 and 97.5 % quantiles over replicates in which the positives and the negatives are each
/// resampled, so the prevalence stays. Parallel over replicates.
BootstrapIntervals bootstrap_intervals(const Ranking& ranking, const BootstrapOptions& options = {});

/// A metric with its 95 % interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;

  /// Half the width of the interval.
  double margin() const { return (high - low) / 2; }
};

/// The quantile 0.975 of the normal distribution: an interval of 95 % reaches so many standard errors to either side.
constexpr double kNormal975 = 1.959963984540054;

/// With the interval of the normal distribution.
inline Estimate normal_estimate(double value, double standard_error) {
  return {value, value - kNormal975 * standard_error, value + kNormal975 * standard_error};
}

/// How well a score detects the positive set. Metrics as in RocMetrics; intervals by DeLong for AUROC, by
/// bootstrap for the others.
struct Detection {
  Estimate auroc;
  double auroc_error = 0;  ///< the standard error of AUROC after DeLong; NaN if a set has a single score
  Estimate aupr;
  Estimate aupr_balanced;
  Estimate average_precision;
  Estimate fpr95;
  int64_t positives = 0;
  int64_t negatives = 0;
  double prevalence = 0;
  int64_t replicates = 0;  ///< of the bootstrap
};

/// ArgumentError as check_scores. Ten million scores take seconds.
Detection detect(const ScoreSets& scores, const BootstrapOptions& options = {});

}  // namespace priornet
