#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/eval/score_sets.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

void check_set(std::string_view function, std::string_view name, std::span<const double> scores) {
  if (scores.empty())
    throw ArgumentError(fmt::format("{}: {} should hold at least one score, found none", function, name));
  const auto nan = std::find_if(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
  if (nan != scores.end())
    throw ArgumentError(fmt::format("{}: {}[{}] should be a number, found nan", function, name, nan - scores.begin()));
}

}  // namespace

void check_scores(std::string_view function, const ScoreSets& scores) {
  check_set(function, "positive", scores.positive);
  check_set(function, "negative", scores.negative);
}

}  // namespace priornet
