#include <gtest/gtest.h>
#include <priornet/learning/schedule.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

using ScheduleKind = ScheduleOptions::Kind;

ScheduleOptions of(ScheduleKind kind) {
  ScheduleOptions options;
  options.kind = kind;
  return options;
}

TEST(Schedule, FallsByAFactorEachEpoch) {
  const auto rates = learning_rates(of(ScheduleKind::kExponential), {3, 2});
  ASSERT_EQ(rates.size(), 6u);
  EXPECT_DOUBLE_EQ(rates[1], 1e-3);
  EXPECT_DOUBLE_EQ(rates[2], 0.95e-3);
  EXPECT_DOUBLE_EQ(rates[5], 0.95 * 0.95 * 1e-3);
}

// The paper's text and the authors' code name different points of one curve.
TEST(Schedule, HasBothReadingsOfOneCycle) {
  auto options = of(ScheduleKind::kOneCycle);
  options.rate = 1e-4;
  const auto text = learning_rates(options, {45, 100});
  options.kind = ScheduleKind::kOneCyclePeak;
  options.rate = 1e-3;
  EXPECT_EQ(learning_rates(options, {45, 100}), text);
  EXPECT_NEAR(*std::max_element(text.begin(), text.end()), 1e-3, 1e-6);
  EXPECT_NEAR(text[1500], 1e-3, 1e-6);  // half the cycle of 30 epochs
  EXPECT_NEAR(text[3000], 1e-4, 1e-6);
  EXPECT_NEAR(text.back(), 1e-6, 1e-7);
}

TEST(Schedule, RisesLinearlyThenFallsByACosine) {
  auto options = of(ScheduleKind::kCosine);
  options.rate = 1.0;
  options.last = 0.0;
  options.warm_up = 0.2;
  const auto rates = learning_rates(options, {10, 100});
  EXPECT_NEAR(rates[99], 0.4975, 1e-9);
  EXPECT_NEAR(rates[199], 0.9975, 1e-9);
  EXPECT_NEAR(rates[599] + rates[600], 1.0, 1e-9);
  EXPECT_LT(rates.back(), 1e-5);
}

TEST(Schedule, ChangesOnlyBetweenEpochsIfAsked) {
  auto options = of(ScheduleKind::kCosine);
  options.each_step = false;
  const auto rates = learning_rates(options, {4, 50});
  for (size_t epoch = 0; epoch < 4; ++epoch)
    for (size_t step = 0; step < 50; ++step) EXPECT_EQ(rates[epoch * 50 + step], rates[epoch * 50]);
  EXPECT_GT(rates[0], rates[50]);
}

TEST(Schedule, RejectsWhatMakesNoSense) {
  EXPECT_THROWS(ArgumentError, learning_rates(of(ScheduleKind::kOneCycle), {10, 5}),
                "learning_rates: cycle should be in (0, 10], the epochs, found 30");
}

}  // namespace
}  // namespace priornet
