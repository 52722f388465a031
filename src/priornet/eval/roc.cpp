#include <priornet/eval/curve_walk.h>
#include <priornet/eval/roc.h>

#include <algorithm>
#include <array>

namespace priornet {

double auroc(const Ranking& ranking) {
  // Twice the number of pairs in the right order, ties counting half: whole numbers, so no rounding.
  uint64_t twice = 0;
  uint64_t positives_above = 0;
  ranking.for_each_group([&](int64_t positives, int64_t negatives) {
    const auto p = static_cast<uint64_t>(positives);
    twice += static_cast<uint64_t>(negatives) * (2 * positives_above + p);
    positives_above += p;
  });
  return static_cast<double>(twice) / 2.0 / static_cast<double>(ranking.positives()) /
         static_cast<double>(ranking.negatives());
}

RocMetrics roc_metrics(const Ranking& ranking) {
  CurveWalk walk(ranking, {ranking.positives(), ranking.negatives()});
  std::array<uint8_t, 4096> ones;
  ones.fill(1);
  const auto order = ranking.order();
  for (size_t i = 0; i < order.size(); i += ones.size())
    walk.add(order.subspan(i, std::min(ones.size(), order.size() - i)), ones.data());
  return {.auroc = auroc(ranking),
          .aupr = walk.aupr(),
          .average_precision = walk.average_precision(),
          .fpr95 = walk.fpr95(),
          .prevalence = static_cast<double>(ranking.positives()) / static_cast<double>(order.size())};
}

RocMetrics roc_metrics(const ScoreSets& scores) { return roc_metrics(Ranking(scores)); }

}  // namespace priornet
