#include <fmt/format.h>
#include <priornet/deploy/export/decision_graph.h>

#include <algorithm>
#include <limits>

namespace priornet::graph {
namespace {

// How many of a constant vector are at least each value, [N] to [N], as float64. Of NaN none: it counts as rare.
Value count_at_least(const Value& vector, const Value& values) {
  return sum(cast(unsqueeze(values, 1) <= vector, torch::kFloat64), 1);
}

Value rarity_value(const Watch& watch, size_t index, const Value& score) {
  const auto reference = score.owner->tensor(fmt::format("watch_{}.reference", index), watch.reference);
  const auto size = static_cast<double>(watch.reference.size(0));
  const auto last = watch.reference[-1].item<double>();
  const auto share = (size - count_at_least(reference, score - abs(score) * kTie)) / size;
  return share + at_least(score - last, 0.0) / spread_of(watch) - kTie;
}

}  // namespace

DecisionValues decision_values(const OperatingPoints& points, const std::vector<Value>& scores) {
  check_points(points);
  auto& graph = *scores.at(0).owner;
  std::vector<Value> rarities;
  for (size_t w = 0; w < scores.size(); ++w) rarities.push_back(rarity_value(points.watches[w], w, scores[w]));
  auto rarest = rarities[0];
  for (const auto& rarity : rarities) rarest = where(rarity <= rarest, rarest, rarity);
  const auto size = static_cast<double>(points.combined.size(0));
  const auto rarer = count_at_least(graph.tensor("combined_rarities", points.combined), rarest);
  DecisionValues decision;
  decision.p_value = (1.0 + rarer) / (size + 1.0);

  // A level that nothing can exceed stays a number that files can hold.
  const auto level = std::min(rejection_level(points), std::numeric_limits<double>::max());
  auto cause = cast(rarest < -1.0, torch::kInt64);  // no rarity is: all 0
  // The causes named first are written last.
  for (const auto of : {Verdict::kAmbiguous, Verdict::kUndecided, Verdict::kUnfamiliar})
    for (size_t w = 0; w < rarities.size(); ++w)
      if (points.watches[w].cause == of)
        cause = where(rarities[w] <= graph.number(level, torch::kFloat64), cause, static_cast<double>(of));
  decision.verdict = where(decision.p_value > points.false_alarm, 0.0, cause);
  return decision;
}

}  // namespace priornet::graph
