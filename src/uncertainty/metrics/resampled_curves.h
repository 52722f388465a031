#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "uncertainty/metrics/curve_walk.h"

namespace priornet {

/// How often each of counts.size() rows is drawn in as many draws with replacement: a function of seed and replicate.
void draw_with_replacement(uint64_t seed, int64_t replicate, std::vector<uint8_t>& counts);

/// The 2.5 and 97.5 % quantiles of the replicates, which it sorts.
Interval percentiles(std::vector<double>& replicates);

/// Bootstrap replicates of a ranking, stratified: positives are drawn from positives, negatives from negatives.
/// A set of up to kLargestExact scores is drawn with replacement, as many as it has. In a larger one each score gets an
/// independent Poisson(1) weight; relative to their total these are the same to within 1 / sqrt(set size), and need
/// no memory: any block of a replicate can be made again from (seed, replicate, block), on any thread.
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

    /// The weights of a block, one a score; valid until the next call.
    const uint8_t* weights(int64_t block);

    /// The weights of both sets in all: takes a pass over the blocks unless both are drawn exactly.
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
