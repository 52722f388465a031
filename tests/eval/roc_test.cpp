#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <testing/score_samples.h>
#include <testing/throws.h>

#include <algorithm>
#include <limits>
#include <set>

namespace priornet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Straight from the definitions in detection.h: every pair, every threshold.
RocMetrics slow_metrics(const ScoreSamples& scores) {
  RocMetrics result;
  const auto p = static_cast<double>(scores.positive.size());
  const auto n = static_cast<double>(scores.negative.size());
  for (const double a : scores.positive)
    for (const double b : scores.negative) result.auroc += (a > b ? 1.0 : a == b ? 0.5 : 0.0) / p / n;
  std::set<double, std::greater<>> thresholds(scores.positive.begin(), scores.positive.end());
  thresholds.insert(scores.negative.begin(), scores.negative.end());
  const auto count = [](const std::vector<double>& set, double t) {
    return static_cast<double>(std::count_if(set.begin(), set.end(), [t](double score) { return score >= t; }));
  };
  double recall_before = 0;
  double precision_before = -1, balanced_before = -1;
  result.fpr95 = 1;
  for (const double t : thresholds) {
    const double tp = count(scores.positive, t);
    const double fp = count(scores.negative, t);
    const double precision = tp / (tp + fp);
    const double balanced = tp / p / (tp / p + fp / n);
    if (precision_before < 0) precision_before = precision;
    if (balanced_before < 0) balanced_before = balanced;
    result.average_precision += (tp / p - recall_before) * precision;
    result.aupr += (tp / p - recall_before) * (precision + precision_before) / 2;
    result.aupr_balanced += (tp / p - recall_before) * (balanced + balanced_before) / 2;
    if (tp >= 0.95 * p - 1e-9) result.fpr95 = std::min(result.fpr95, fp / n);
    recall_before = tp / p;
    precision_before = precision;
    balanced_before = balanced;
  }
  result.prevalence = p / (p + n);
  return result;
}

void expect_same(const RocMetrics& found, const RocMetrics& wanted) {
  EXPECT_NEAR(found.auroc, wanted.auroc, 1e-12);
  EXPECT_NEAR(found.aupr, wanted.aupr, 1e-12);
  EXPECT_NEAR(found.aupr_balanced, wanted.aupr_balanced, 1e-12);
  EXPECT_NEAR(found.average_precision, wanted.average_precision, 1e-12);
  EXPECT_NEAR(found.fpr95, wanted.fpr95, 1e-12);
  EXPECT_NEAR(found.prevalence, wanted.prevalence, 1e-12);
}

// By hand. AUROC: of the 16 pairs 0.9 wins 4, each 0.8 wins 3 and ties 1, 0.3 wins 1 and ties 1: 12.5.
// (tp, fp) down the thresholds: (1,0) (3,1) (3,2) (4,3) (4,4).
TEST(RocMetrics, MatchesAHandComputedExampleWithTies) {
  const ScoreSamples scores{{0.9, 0.8, 0.8, 0.3}, {0.8, 0.5, 0.3, 0.1}};
  expect_same(roc_metrics(scores.sets()), {.auroc = 12.5 / 16,
                                           .aupr = 0.25 + 0.5 * (1 + 0.75) / 2 + 0.25 * (0.6 + 4.0 / 7) / 2,
                                           .aupr_balanced = 0.25 + 0.5 * (1 + 0.75) / 2 + 0.25 * (0.6 + 4.0 / 7) / 2,
                                           .average_precision = 0.25 + 0.5 * 0.75 + 0.25 * 4 / 7,
                                           .fpr95 = 0.75,
                                           .prevalence = 0.5});
}

// The first threshold finds the negative alone: the curve goes from (recall 0, precision 0) to (1, 1/2).
TEST(RocMetrics, StartsTheCurveAtThePrecisionOfTheFirstThreshold) {
  expect_same(
      roc_metrics(ScoreSamples{{1}, {2}}.sets()),
      {.auroc = 0, .aupr = 0.25, .aupr_balanced = 0.25, .average_precision = 0.5, .fpr95 = 1, .prevalence = 0.5});
  expect_same(roc_metrics(ScoreSamples{{2}, {1, 1, 1}}.sets()),
              {.auroc = 1, .aupr = 1, .aupr_balanced = 1, .average_precision = 1, .fpr95 = 0, .prevalence = 0.25});
}

TEST(RocMetrics, IsThePrevalenceWhereAllScoresAreEqual) {
  expect_same(
      roc_metrics(ScoreSamples{{7, 7}, {7, 7, 7, 7, 7, 7}}.sets()),
      {.auroc = 0.5, .aupr = 0.25, .aupr_balanced = 0.5, .average_precision = 0.25, .fpr95 = 1, .prevalence = 0.25});
}

// 19 of 20 positives are exactly 95 %.
TEST(RocMetrics, CountsExactly95PercentAsEnough) {
  ScoreSamples scores{{}, {0.5, 0.5, -1}};
  for (int i = 0; i < 19; ++i) scores.positive.push_back(1);
  scores.positive.push_back(0);
  EXPECT_EQ(roc_metrics(scores.sets()).fpr95, 0.0);
  scores.positive.pop_back();
  scores.positive.front() = 0;
  EXPECT_EQ(roc_metrics(scores.sets()).fpr95, 2.0 / 3);
}

TEST(RocMetrics, AgreesWithTheDefinitionsOnRandomScores) {
  std::mt19937_64 random(1);
  for (const double grid : {0.0, 0.05, 0.5, 2.0})
    for (const auto& [positives, negatives] : {std::pair{1, 1}, {1, 50}, {50, 1}, {37, 211}, {300, 90}}) {
      const auto scores = normal_samples({positives, negatives, 1.0, grid}, random);
      SCOPED_TRACE(::testing::Message() << positives << " and " << negatives << ", grid " << grid);
      expect_same(roc_metrics(scores.sets()), slow_metrics(scores));
    }
}

TEST(RocMetrics, DependsOnTheOrderAlone) {
  std::mt19937_64 random(2);
  auto scores = normal_samples({.positives = 200, .negatives = 300, .grid = 0.1}, random);
  const auto before = roc_metrics(scores.sets());
  for (auto* set : {&scores.positive, &scores.negative}) {
    for (auto& score : *set) score = std::exp(3 * score);
    std::shuffle(set->begin(), set->end(), random);
  }
  expect_same(roc_metrics(scores.sets()), before);
}

TEST(RocMetrics, RanksInfinities) {
  const ScoreSamples scores{{kInfinity, 1, kInfinity}, {-kInfinity, kInfinity, 0}};
  expect_same(roc_metrics(scores.sets()), slow_metrics(scores));
}

TEST(RocMetrics, RefusesNansAndEmptySets) {
  const ScoreSamples nan{{1, 2}, {0, 1, std::nan("")}};
  EXPECT_THROWS(ArgumentError, roc_metrics(nan.sets()), "Ranking: negative[2] should be a number, found nan");
  EXPECT_THROWS(ArgumentError, roc_metrics(ScoreSamples{{}, {1}}.sets()),
                "Ranking: positive should hold at least one score, found none");
  EXPECT_THROWS(ArgumentError, roc_metrics(ScoreSamples{{1}, {}}.sets()),
                "Ranking: negative should hold at least one score, found none");
}

}  // namespace
}  // namespace priornet
