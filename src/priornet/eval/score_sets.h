#pragma once

#include <span>
#include <string_view>

namespace priornet {

/// The scores of two sets of inputs that a detector should tell apart: the higher the score, the more it speaks for
/// the positive set (for example, positive: out of distribution; score: an uncertainty). Infinities are scores.
struct ScoreSets {
  std::span<const double> positive;
  std::span<const double> negative;
};

/// ArgumentError if a set is empty, or if a score is NaN, which it names by index.
void check_scores(std::string_view function, const ScoreSets& scores);

}  // namespace priornet
