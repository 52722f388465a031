#pragma once

#include <priornet/eval/score_sets.h>

#include <cstdint>
#include <vector>

namespace priornet {

/// The order of two sets of scores, highest first: all that ranking metrics need, in one byte a score.
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

}  // namespace priornet
