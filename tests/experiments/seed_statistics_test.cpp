#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include "tool/experiments/image_results.h"

#include <boost/math/distributions/students_t.hpp>

namespace priornet {
namespace {

TEST(StudentT, AgreesWithBoost) {
  for (int64_t degrees = 1; degrees <= 200; ++degrees) {
    const double exact = boost::math::quantile(boost::math::students_t(static_cast<double>(degrees)), 0.975);
    EXPECT_NEAR(student_t(degrees), exact, 1e-4 * exact) << degrees;
  }
  EXPECT_THROWS(ArgumentError, student_t(0), "student_t: degrees should be at least 1, found 0");
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
