#pragma once

#include <priornet/uncertainty/detection.h>

#include <cstdint>
#include <span>
#include <vector>

namespace priornet {

/// The sums of weights of both sets.
struct WeightTotals {
  int64_t positive = 0;
  int64_t negative = 0;
};

/// Walks down a ranking whose scores carry weights, and sums up the precision-recall and ROC curves (detection.h) on
/// the way. The weights are scaled to the prevalence of the unweighted ranking, whatever their totals: precision is tp
/// / (tp + c fp), with c the ratio of the prevalence odds of the weights to those of the ranking. With c the odds of
/// the weights themselves it is the precision of sets of the same size.
class CurveWalk {
 public:
  CurveWalk(const Ranking& ranking, const WeightTotals& totals)
      : totals_(totals),
        odds_(static_cast<double>(totals.positive) / static_cast<double>(totals.negative)),
        odds_ratio_(odds_ * static_cast<double>(ranking.negatives()) / static_cast<double>(ranking.positives())) {}

  /// The next piece of ranking.order() with its weights; pieces in order, none left out.
  void add(std::span<const uint8_t> order, const uint8_t* weights) {
    for (size_t i = 0; i < order.size(); ++i) {
      const int64_t weight = weights[i];
      const int64_t positive = order[i] & Ranking::kPositive;
      tp_ += weight & -positive;  // no branch: the sets alternate at random
      fp_ += weight & (positive - 1);
      if ((order[i] & Ranking::kEndOfGroup) != 0) end_group();
    }
  }

  double aupr() const { return trapezoids_ / (2.0 * static_cast<double>(totals_.positive)); }
  double aupr_balanced() const { return balanced_trapezoids_ / (2.0 * static_cast<double>(totals_.positive)); }
  double average_precision() const { return steps_ / static_cast<double>(totals_.positive); }
  double fpr95() const { return static_cast<double>(fp_at_95_) / static_cast<double>(totals_.negative); }

 private:
  void end_group() {
    if (tp_ + fp_ == 0) return;  // the scores so far have no weight: the curve has not begun
    const auto tp = static_cast<double>(tp_);
    const double precision = tp / (tp + odds_ratio_ * static_cast<double>(fp_));
    const double balanced = tp / (tp + odds_ * static_cast<double>(fp_));
    const auto step = static_cast<double>(tp_ - tp_before_);
    if (precision_before_ < 0) {
      precision_before_ = precision;
      balanced_before_ = balanced;
    }
    steps_ += step * precision;
    trapezoids_ += step * (precision + precision_before_);
    balanced_trapezoids_ += step * (balanced + balanced_before_);
    if (fp_at_95_ < 0 && 20 * tp_ >= 19 * totals_.positive) fp_at_95_ = fp_;
    tp_before_ = tp_;
    precision_before_ = precision;
    balanced_before_ = balanced;
  }

  WeightTotals totals_;
  double odds_;
  double odds_ratio_;
  int64_t tp_ = 0;
  int64_t fp_ = 0;
  int64_t tp_before_ = 0;
  int64_t fp_at_95_ = -1;
  double precision_before_ = -1;
  double balanced_before_ = -1;
  double steps_ = 0;
  double trapezoids_ = 0;
  double balanced_trapezoids_ = 0;
};

/// How often each of counts.size() rows is drawn in as many draws with replacement; depends on seed and replicate
/// alone.
void draw_with_replacement(uint64_t seed, int64_t replicate, std::vector<uint8_t>& counts);

/// The 2.5 and 97.5 % quantiles of the replicates, which it sorts.
Interval percentiles(std::vector<double>& replicates);

/// Bootstrap replicates of a ranking, stratified: positives are drawn from positives, negatives from negatives. A set
/// of up to kLargestExact scores is drawn with replacement, as many as it has. In a larger set each score gets an
/// independent Poisson(1) weight; relative to their total these are the same to within 1 / sqrt(set size), and need no
/// memory: any thread can make any block of a replicate again from (seed, replicate, block).
class Resampler {
 public:
  static constexpr int64_t kBlock = 4096;
  static constexpr int64_t kLargestExact = 16384;

  /// Keeps a reference to the ranking.
  Resampler(const Ranking& ranking, uint64_t seed);

  int64_t blocks() const;

  /// The piece of ranking.order() that a block covers.
  std::span<const uint8_t> order(int64_t block) const;

  class Replicate {
   public:
    Replicate(const Resampler& resampler, int64_t index);

    /// The weights of a block, one per score; valid until the next call.
    const uint8_t* weights(int64_t block);

    /// The total weights of both sets: takes a pass over the blocks unless both are drawn exactly.
    WeightTotals totals();

   private:
    const Resampler& resampler_;
    uint64_t key_;
    std::vector<uint8_t> counts_[2];  ///< of a set that is drawn exactly, by rank within the set
    std::vector<uint8_t> block_;
  };

 private:
  const Ranking& ranking_;
  uint64_t seed_;
  bool any_poisson_ = false;
  std::vector<int64_t> positions_[2];  ///< in the ranking, of the positives and negatives, where drawn exactly
};

}  // namespace priornet
