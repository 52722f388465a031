#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <testing/score_samples.h>
#include <testing/throws.h>

namespace priornet {
namespace {

TEST(Detect, GivesEachMetricItsInterval) {
  std::mt19937_64 random(13);
  const auto scores = normal_samples({.positives = 300, .negatives = 200}, random);
  const auto found = detect(scores.sets(), {.replicates = 300, .seed = 5});
  const Ranking ranking(scores.sets());
  const auto metrics = roc_metrics(ranking);
  EXPECT_EQ(found.auroc.value, metrics.auroc);
  EXPECT_EQ(found.auroc.low, delong_interval(ranking).low);
  EXPECT_EQ(found.fpr95.high, bootstrap_intervals(ranking, {.replicates = 300, .seed = 5}).fpr95.high);
  for (const auto& estimate : {found.auroc, found.aupr, found.aupr_balanced, found.average_precision, found.fpr95}) {
    EXPECT_LT(estimate.low, estimate.value);
    EXPECT_GT(estimate.high, estimate.value);
  }
  EXPECT_EQ(found.aupr.value, metrics.aupr);
  EXPECT_EQ(found.aupr_balanced.value, metrics.aupr_balanced);
  EXPECT_EQ(found.average_precision.value, metrics.average_precision);
  EXPECT_EQ(found.positives, 300);
  EXPECT_EQ(found.negatives, 200);
  EXPECT_EQ(found.prevalence, 0.6);
  EXPECT_EQ(found.replicates, 300);
  EXPECT_EQ(detect(ScoreSamples{{1}, {0}}.sets()).replicates, 1000);
}

TEST(Detect, NamesTheScoreThatIsNan) {
  const ScoreSamples nan{{1, std::nan("")}, {0}};
  EXPECT_THROWS(ArgumentError, detect(nan.sets()), "detect: positive[1] should be a number, found nan");
  EXPECT_THROWS(ArgumentError, detect(ScoreSamples{{1}, {}}.sets()),
                "detect: negative should hold at least one score, found none");
}

}  // namespace
}  // namespace priornet
