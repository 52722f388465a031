#pragma once

#include <priornet/eval/interval.h>
#include <priornet/eval/ranking.h>

#include <cstdint>
#include <span>

// The sampling error of AUROC after DeLong, DeLong and Clarke-Pearson (1988), with the mid-rank algorithm of Sun and Xu
// (2014): sorting instead of P x N comparisons. A positive's component is the share of negatives it exceeds, a
// negative's the share of positives that exceed it, ties counting half; the variance of AUROC is the sample variance of
// the former over P plus that of the latter over N.

namespace priornet {

/// The variance of AUROC; NaN if a set has a single score.
double delong_variance(const Ranking& ranking);

/// AUROC +- 1.96 standard errors, within [0, 1]; the whole of it if a set has a single score. A score that separates
/// the sets completely shows no variance: the interval is then the point.
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
  double z = 0;        ///< (first - second) over its standard error
  double p_value = 1;  ///< two-sided, of the hypothesis that both AUROCs are equal
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
/// products over the inputs. With the same positives it is the test above. ArgumentError as there.
PairedAuroc delong_paired(const MarkedScores& first, const MarkedScores& second);

}  // namespace priornet
