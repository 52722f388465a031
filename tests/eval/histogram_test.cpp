#include <gtest/gtest.h>
#include <priornet/uncertainty/curves.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <limits>
#include <numeric>

namespace priornet {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(Histogram, CountsEveryFiniteValueOnce) {
  const std::vector<double> values{-5, 0, 0.24, 0.25, 0.99, 1, 7, kNotANumber, kEndless};
  EXPECT_EQ(histogram(values, {0, 1, 4}), (std::vector<int64_t>{3, 1, 0, 3}));
}

TEST(Histogram, TakesTheSmallestRangeThereIs) {
  const std::vector<double> values{0, 5e-324, 5e-324};
  EXPECT_EQ(histogram(values, shared_bins({values}, 4)), (std::vector<int64_t>{1, 0, 0, 2}));
}

TEST(Histogram, WantsBinsThatAre) {
  const std::vector<double> values{1, 2};
  EXPECT_THROWS(ArgumentError, histogram(values, {0, 1, 0}), "histogram: count should be at least 1, found 0");
  EXPECT_THROWS(ArgumentError, histogram(values, {0, 1, -1}), "histogram: count should be at least 1, found -1");
  EXPECT_THROWS(ArgumentError, histogram(values, {1, 1, 5}),
                "histogram: high - low should be positive and finite, found 0");
  EXPECT_THROWS(ArgumentError, histogram(values, {kNotANumber, 1, 5}),
                "histogram: high - low should be positive and finite, found nan");
}

TEST(SharedBins, ReachFromTheLeastToTheGreatestOfAllSets) {
  const std::vector<double> first{1, 2, kNotANumber};
  const std::vector<double> second{-3, 0, -kEndless};
  const auto bins = shared_bins({first, second}, 10);
  EXPECT_EQ(bins.low, -3);
  EXPECT_EQ(bins.high, 2);
  EXPECT_EQ(bins.count, 10);
}

TEST(SharedBins, AreNotWidenedByAThousandthOfTheValues) {
  std::vector<double> values(10001);
  std::iota(values.begin(), values.end(), 0.0);
  for (size_t i = 0; i < 5; ++i) values[values.size() - 1 - i] = 1e9;
  EXPECT_LT(shared_bins({values}).high, 1e4);
}

TEST(SharedBins, AreThereForOneValueAndForNone) {
  const std::vector<double> one{4};
  EXPECT_EQ(shared_bins({one}).low, 4);
  EXPECT_EQ(shared_bins({one}).high, 5);
  const std::vector<double> saturated{3.4e38, 3.4e38};
  EXPECT_EQ(histogram(saturated, shared_bins({saturated}, 3)), (std::vector<int64_t>{2, 0, 0}));
  EXPECT_EQ(shared_bins({}).low, 0);
  EXPECT_EQ(shared_bins({}).high, 1);
}

}  // namespace
}  // namespace priornet
