#include <gtest/gtest.h>
#include <priornet/uncertainty/detection.h>
#include <testing/score_samples.h>

#include "uncertainty/metrics/resampled_curves.h"

namespace priornet {
namespace {

CurveWalk walked(const Ranking& ranking, const std::vector<uint8_t>& weights) {
  WeightTotals totals;
  for (size_t i = 0; i < weights.size(); ++i) {
    const bool positive = (ranking.order()[i] & Ranking::kPositive) != 0;
    (positive ? totals.positive : totals.negative) += weights[i];
  }
  CurveWalk walk(ranking, totals);
  walk.add(ranking.order().first(weights.size() / 2), weights.data());
  walk.add(ranking.order().subspan(weights.size() / 2), weights.data() + weights.size() / 2);
  return walk;
}

// Heavier negatives would lower the precision, were the prevalence not held.
TEST(CurveWalk, HoldsThePrevalenceWhateverTheTotals) {
  std::mt19937_64 random(6);
  const auto scores = normal_samples({.positives = 70, .negatives = 130, .grid = 0.2}, random);
  const Ranking ranking(scores.sets());
  std::vector<uint8_t> weights;
  for (const auto flags : ranking.order()) weights.push_back((flags & Ranking::kPositive) != 0 ? 2 : 5);
  const auto walk = walked(ranking, weights);
  const auto metrics = roc_metrics(ranking);
  EXPECT_NEAR(walk.aupr(), metrics.aupr, 1e-12);
  EXPECT_NEAR(walk.average_precision(), metrics.average_precision, 1e-12);
  EXPECT_NEAR(walk.fpr95(), metrics.fpr95, 1e-12);
}

// A weight is a number of copies, when both sets keep their size.
TEST(CurveWalk, CountsAScoreAsOftenAsItWeighs) {
  const ScoreSamples scores{{6, 4, 2}, {5, 4, 3, 1}};
  // Highest first: 6+ 5- 4+ 4- 3- 2+ 1-
  const auto walk = walked(Ranking(scores.sets()), {0, 1, 2, 0, 3, 1, 0});
  const auto metrics = roc_metrics(ScoreSamples{{4, 4, 2}, {5, 3, 3, 3}}.sets());
  EXPECT_NEAR(walk.aupr(), metrics.aupr, 1e-12);
  EXPECT_NEAR(walk.average_precision(), metrics.average_precision, 1e-12);
  EXPECT_NEAR(walk.fpr95(), metrics.fpr95, 1e-12);
}

}  // namespace
}  // namespace priornet
