#include <gtest/gtest.h>
#include <priornet/learning/trivial_statistics.h>
#include <priornet/uncertainty/errors.h>
#include <testing/tensors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

StatisticAuroc only(const std::vector<double>& in, const std::vector<double>& out) {
  return statistic_aurocs({{"size", vector(in)}}, {{"size", vector(out)}}).at(0);
}

// OUT is above in 7 of 9 pairs and equal in 1.
TEST(StatisticAuroc, KnowsItsDirection) {
  const auto higher = only({1, 2, 4}, {2, 5, 6});
  EXPECT_EQ(higher.name, "size");
  EXPECT_DOUBLE_EQ(higher.auroc, 7.5 / 9);
  EXPECT_TRUE(higher.out_is_higher);
  EXPECT_EQ(higher.in_median, 2);
  EXPECT_EQ(higher.out_median, 5);
  const auto lower = only({2, 5, 6}, {1, 2, 4});
  EXPECT_DOUBLE_EQ(lower.auroc, 7.5 / 9);
  EXPECT_FALSE(lower.out_is_higher);
}

TEST(StatisticAuroc, OfEqualSetsIsOneHalf) {
  EXPECT_EQ(only({1, 2, 3}, {3, 2, 1}).auroc, 0.5);
  EXPECT_EQ(only({1}, {1, 1, 1}).auroc, 0.5);
}

TEST(StatisticAuroc, RanksMissingValuesLowest) {
  const auto missing = only({-INFINITY, 0, 1}, {NAN, NAN, NAN});
  EXPECT_DOUBLE_EQ(missing.auroc, 1 - 0.5 / 3);
  EXPECT_FALSE(missing.out_is_higher);
}

TEST(StatisticAuroc, StrongestIsTheFirstOfTheHighest) {
  const std::vector<StatisticAuroc> some = {{"a", 0.6, true, 0, 0}, {"b", 0.9, false, 0, 0}, {"c", 0.9, true, 0, 0}};
  EXPECT_EQ(strongest(some).name, "b");
  EXPECT_THROWS(ArgumentError, strongest({}), "strongest: there are no statistics");
}

TEST(StatisticAuroc, RefusesOtherStatistics) {
  EXPECT_THROWS(ArgumentError, statistic_aurocs({{"a", vector({1})}}, {{"b", vector({1})}}),
                "statistic_aurocs: a of IN cannot be compared with b of OUT");
  EXPECT_THROWS(ArgumentError, statistic_aurocs({{"a", vector({1})}}, {}),
                "statistic_aurocs: 1 statistics of IN but 0 of OUT");
}

}  // namespace
}  // namespace priornet
