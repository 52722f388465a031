#include <ATen/Parallel.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <testing/score_samples.h>
#include <testing/throws.h>

#include <boost/math/distributions/normal.hpp>

namespace priornet {
namespace {

bool covers(const Interval& interval, double truth) { return interval.low <= truth && truth <= interval.high; }

TEST(BootstrapIntervals, AreTheSameForAnyNumberOfThreads) {
  std::mt19937_64 random(8);
  const int threads = at::get_num_threads();
  for (const int size : {50, 20000}) {
    const Ranking ranking(normal_samples({.positives = size, .negatives = size}, random).sets());
    at::set_num_threads(1);
    const auto one = bootstrap_intervals(ranking, {.replicates = 40, .seed = 9});
    at::set_num_threads(3);
    const auto three = bootstrap_intervals(ranking, {.replicates = 40, .seed = 9});
    const auto other_seed = bootstrap_intervals(ranking, {.replicates = 40, .seed = 10});
    at::set_num_threads(threads);
    EXPECT_EQ(one.aupr.low, three.aupr.low);
    EXPECT_EQ(one.average_precision.high, three.average_precision.high);
    EXPECT_EQ(one.fpr95.low, three.fpr95.low);
    EXPECT_NE(one.aupr.low, other_seed.aupr.low);
  }
}

// The truth about N(1.5, 1) against N(0, 1): FPR at 95 % TPR is Phi(1.645 - 1.5), the areas are those of two
// million samples. 300 samples put a share of 0.95 within +- 0.04; the percentile interval falls a little short of it.
TEST(BootstrapIntervals, CoverTheTruthAbout95PercentOfTheTime) {
  const boost::math::normal normal;
  const double fpr95 = boost::math::cdf(normal, boost::math::quantile(normal, 0.95) - 1.5);
  std::mt19937_64 random(11);
  const auto truth = roc_metrics(normal_samples({.positives = 1000000, .negatives = 1000000}, random).sets());
  EXPECT_NEAR(truth.fpr95, fpr95, 0.005);
  constexpr int kSamples = 300;
  int of_aupr = 0, of_average_precision = 0, of_fpr95 = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Ranking ranking(normal_samples({}, random).sets());
    const auto intervals = bootstrap_intervals(ranking, {.replicates = 300, .seed = static_cast<uint64_t>(i)});
    of_aupr += covers(intervals.aupr, truth.aupr) ? 1 : 0;
    of_average_precision += covers(intervals.average_precision, truth.average_precision) ? 1 : 0;
    of_fpr95 += covers(intervals.fpr95, fpr95) ? 1 : 0;
  }
  for (const int covered : {of_aupr, of_average_precision, of_fpr95}) {
    EXPECT_GE(covered, 0.88 * kSamples);
    EXPECT_LE(covered, 0.985 * kSamples);
  }
}

// For sets with Poisson weights: the width of the interval against the spread of the metric over fresh samples,
// whose standard error with 100 of them is 7 %.
TEST(BootstrapIntervals, AreAsWideAsTheMetricsSpreadOverFreshSamples) {
  constexpr int kSamples = 100;
  const NormalOptions options{.positives = 20000, .negatives = 60000};
  std::mt19937_64 random(12);
  double sum[2] = {}, squares[2] = {};
  for (int i = 0; i < kSamples; ++i) {
    const auto metrics = roc_metrics(normal_samples(options, random).sets());
    const double values[2] = {metrics.average_precision, metrics.fpr95};
    for (int j = 0; j < 2; ++j) {
      sum[j] += values[j];
      squares[j] += values[j] * values[j];
    }
  }
  const auto intervals = bootstrap_intervals(Ranking(normal_samples(options, random).sets()), {.replicates = 400});
  const double widths[2] = {intervals.average_precision.high - intervals.average_precision.low,
                            intervals.fpr95.high - intervals.fpr95.low};
  for (int j = 0; j < 2; ++j) {
    const double spread = std::sqrt((squares[j] - sum[j] * sum[j] / kSamples) / (kSamples - 1));
    EXPECT_NEAR(widths[j] / (2 * 1.96 * spread), 1.0, 0.25);
  }
}

TEST(BootstrapIntervals, ArePointsForSeparatedSets) {
  const auto intervals = bootstrap_intervals(Ranking(ScoreSamples{{3, 4, 5}, {0, 1}}.sets()));
  EXPECT_EQ(intervals.aupr.low, 1.0);
  EXPECT_EQ(intervals.average_precision.low, 1.0);
  EXPECT_EQ(intervals.fpr95.high, 0.0);
}

TEST(BootstrapIntervals, WantTwoReplicates) {
  EXPECT_THROWS(ArgumentError, bootstrap_intervals(Ranking(ScoreSamples{{1}, {0}}.sets()), {.replicates = 1}),
                "bootstrap_intervals: replicates should be at least 2, found 1");
}

}  // namespace
}  // namespace priornet
