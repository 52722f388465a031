#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <priornet/uncertainty/rank_correlation.h>
#include <testing/throws.h>

#include <cmath>
#include <limits>
#include <vector>

namespace priornet {
namespace {

using RankedValues = std::vector<double>;

RankedValues normal_values(int64_t count, uint64_t seed) {
  const auto values = normal_draws(count, 1, {seed}).to(torch::kFloat64);
  return {values.data_ptr<double>(), values.data_ptr<double>() + count};
}

// Wikipedia's example, IQ and hours of television per week: 1 - 6 * 194 / (10 * 99) = -29/165.
TEST(Spearman, MatchesAWorkedExample) {
  const RankedValues iq{106, 100, 86, 101, 99, 103, 97, 113, 112, 110};
  const RankedValues television{7, 27, 2, 50, 28, 29, 20, 12, 6, 17};
  EXPECT_NEAR(spearman(iq, television), -29.0 / 165, 1e-15);
}

// Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: the deviations multiply to 4.5, their squares are 4.5 and 5.
TEST(Spearman, SharesTheRankOfRowsThatTie) {
  EXPECT_NEAR(spearman(RankedValues{1, 2, 2, 3}, RankedValues{1, 3, 2, 4}), 4.5 / std::sqrt(4.5 * 5), 1e-15);
}

TEST(Spearman, DependsOnTheOrderAlone) {
  const auto first = normal_values(200, 1);
  auto second = normal_values(200, 2);
  for (size_t i = 0; i < second.size(); ++i) second[i] += first[i];
  const double plain = spearman(first, second);
  EXPECT_GT(plain, 0.5);
  EXPECT_LT(plain, 0.9);
  auto risen = first, fallen = first;
  for (auto& value : risen) value = std::exp(3 * value) - 100;
  for (auto& value : fallen) value = -value * value * value;
  EXPECT_DOUBLE_EQ(spearman(risen, second), plain);
  EXPECT_DOUBLE_EQ(spearman(fallen, second), -plain);
  EXPECT_DOUBLE_EQ(spearman(second, first), plain);
  EXPECT_DOUBLE_EQ(spearman(first, risen), 1.0);
}

TEST(Spearman, TakesInfinitiesForValues) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(spearman(RankedValues{-kInfinite, 0, kInfinite}, RankedValues{1, 2, 3}), 1.0);
}

TEST(Spearman, IsNotANumberWhereOneScoreSaysNothing) {
  EXPECT_TRUE(std::isnan(spearman(RankedValues{1, 1, 1}, RankedValues{1, 2, 3})));
}

TEST(Spearman, RejectsWhatHasNoRanks) {
  EXPECT_THROWS(ArgumentError, spearman(RankedValues{1}, RankedValues{1}),
                "spearman: first and second should have the same length, at least 2, found 1 and 1");
  EXPECT_THROWS(ArgumentError, spearman(RankedValues{1, 2}, RankedValues{1, 2, 3}),
                "spearman: first and second should have the same length, at least 2, found 2 and 3");
  EXPECT_THROWS(ArgumentError, spearman(RankedValues{1, NAN}, RankedValues{1, 2}),
                "spearman: first and second should be numbers, found nan");
  BootstrapOptions options;
  options.replicates = 1;
  EXPECT_THROWS(ArgumentError, spearman_estimate(RankedValues{1, 2}, RankedValues{1, 2}, options),
                "spearman_estimate: replicates should be at least 2, found 1");
}

// Of independent scores the correlation has a standard deviation of 1 / sqrt(N - 1).
TEST(SpearmanEstimate, HasAnIntervalAsWideAsTheSamplingError) {
  const auto first = normal_values(400, 3);
  const auto second = normal_values(400, 4);
  const auto estimate = spearman_estimate(first, second);
  EXPECT_DOUBLE_EQ(estimate.value, spearman(first, second));
  EXPECT_LT(estimate.low, estimate.value);
  EXPECT_GT(estimate.high, estimate.value);
  EXPECT_NEAR(estimate.high - estimate.low, 2 * 1.96 / std::sqrt(399.0), 0.03);
}

TEST(SpearmanEstimate, IsAFunctionOfTheSeed) {
  const auto first = normal_values(100, 5);
  const auto second = normal_values(100, 6);
  const auto once = spearman_estimate(first, second, {50, 7});
  const auto again = spearman_estimate(first, second, {50, 7});
  const auto other = spearman_estimate(first, second, {50, 8});
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  EXPECT_NE(once.low, other.low);
}

TEST(SpearmanEstimate, IsAPointWhereTheOrdersAgree) {
  const auto first = normal_values(60, 9);
  const auto estimate = spearman_estimate(first, first, {100, 0});
  EXPECT_EQ(estimate.low, 1.0);
  EXPECT_EQ(estimate.high, 1.0);
}

}  // namespace
}  // namespace priornet
