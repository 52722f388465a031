#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include "tool/experiments/image_results.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace priornet {
namespace {

TEST(StudentT, AgreesWithBoost) {
  for (double degrees = 1; degrees <= 1000; degrees = degrees < 20 ? degrees + 0.3 : 1.3 * degrees) {
    const boost::math::students_t exact(degrees);
    EXPECT_NEAR(student_t(degrees), boost::math::quantile(exact, 0.975), 1e-9 * student_t(degrees)) << degrees;
    for (const double t : {-40.0, -2.5, -1e-3, 0.0, 0.3, 1.0, 1.96, 4.0, 12.0, 300.0}) {
      const double tail = 2 * boost::math::cdf(boost::math::complement(exact, std::abs(t)));
      EXPECT_NEAR(student_two_sided(t, degrees), tail, 1e-11 * tail + 1e-290) << t << ", " << degrees;
    }
  }
  EXPECT_THROWS(ArgumentError, student_t(0), "student_t: degrees should be at least 1, found 0");
  EXPECT_THROWS(ArgumentError, student_two_sided(1, 0.5), "student_two_sided: degrees should be at least 1, found 0.5");
}

// By hand: means 3 and 6, variances of the means 2.5 / 5 and 4 / 3, so the error is sqrt(11 / 6) and the degrees of
// freedom (11 / 6)^2 / (0.25 / 4 + (16 / 9) / 2) = 3.532846715...
TEST(WelchTest, AgreesWithBoost) {
  const auto test = welch_test({1, 2, 3, 4, 5}, {4, 6, 8});
  const double error = std::sqrt(11.0 / 6), degrees = 121.0 / 36 / (1.0 / 16 + 8.0 / 9);
  const boost::math::students_t exact(degrees);
  EXPECT_NEAR(test.degrees, degrees, 1e-12);
  EXPECT_NEAR(test.difference.value, -3.0, 1e-12);
  EXPECT_NEAR(test.difference.high, -3.0 + boost::math::quantile(exact, 0.975) * error, 1e-8);
  EXPECT_NEAR(test.difference.low, -3.0 - boost::math::quantile(exact, 0.975) * error, 1e-8);
  EXPECT_NEAR(test.p_value, 2 * boost::math::cdf(exact, -3.0 / error), 1e-12);
  const auto reversed = welch_test({4, 6, 8}, {1, 2, 3, 4, 5});
  EXPECT_NEAR(reversed.difference.value, 3.0, 1e-12);
  EXPECT_NEAR(reversed.p_value, test.p_value, 1e-14);
}

TEST(WelchTest, KnowsValuesThatDoNotVary) {
  EXPECT_EQ(welch_test({1, 1}, {1, 1, 1}).p_value, 1.0);
  // Two seeds that agree by chance are no proof; 0.1 is no number of float64, and its sum is rounded.
  for (const auto& [first, second] : {std::pair{2.0, 1.0}, {0.1, 0.2}}) {
    const auto test = welch_test({first, first, first}, {second, second});
    EXPECT_EQ(test.difference.value, first - second);
    EXPECT_TRUE(std::isnan(test.difference.low) && std::isnan(test.difference.high));
    EXPECT_TRUE(std::isnan(test.p_value)) << test.p_value;
  }
  // One of them does: the degrees of freedom are the other's.
  EXPECT_NEAR(welch_test({2, 2}, {1, 2, 3}).degrees, 2.0, 1e-12);
  EXPECT_THROWS(ArgumentError, welch_test({1, 2}, {1}), "welch_test: values should be at least 2, found 1");
}

// Deviation 0.1 of three values.
TEST(OverSeeds, KnowsTheStandardError) {
  EXPECT_NEAR(error_over_seeds({{0.8, 0, 1}, {0.9, 0, 1}, {1.0, 0, 1}}, 7.0), 0.1 / std::sqrt(3.0), 1e-12);
  EXPECT_EQ(error_over_seeds({{0.9, 0.8, 0.95}}, 0.04), 0.04);
}

TEST(OverSeeds, KeepsTheIntervalOfASingleOne) {
  const auto estimate = over_seeds({{0.9, 0.8, 0.95}});
  EXPECT_EQ(estimate.value, 0.9);
  EXPECT_EQ(estimate.low, 0.8);
  EXPECT_EQ(estimate.high, 0.95);
  EXPECT_THROWS(ArgumentError, over_seeds({}), "over_seeds: seeds should be at least 1, found 0");
}

// Deviation sqrt(0.01 / 2 * 2) of 0.8, 0.9, 1.0 is 0.1; the margin 4.302653 * 0.1 / sqrt(3).
TEST(OverSeeds, GivesTheIntervalOfTheMean) {
  const auto estimate = over_seeds({{0.8, 0, 1}, {0.9, 0, 1}, {1.0, 0, 1}});
  EXPECT_NEAR(estimate.value, 0.9, 1e-12);
  EXPECT_NEAR(estimate.high - estimate.value, 0.248414, 1e-6);
  EXPECT_NEAR(estimate.value - estimate.low, 0.248414, 1e-6);
}

}  // namespace
}  // namespace priornet
