#include <gtest/gtest.h>
#include <priornet/learning/optimiser.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

ScheduleOptions of(const std::string& name) {
  ScheduleOptions options;
  options.name = name;
  return options;
}

TEST(Schedule, FallsByAFactorEachEpoch) {
  const auto rates = learning_rates(of("exponential"), {3, 2});
  ASSERT_EQ(rates.size(), 6u);
  EXPECT_DOUBLE_EQ(rates[1], 1e-3);
  EXPECT_DOUBLE_EQ(rates[2], 0.95e-3);
  EXPECT_DOUBLE_EQ(rates[5], 0.95 * 0.95 * 1e-3);
}

// The paper's text and the authors' code name different points of one curve.
TEST(Schedule, HasBothReadingsOfOneCycle) {
  auto options = of("one-cycle");
  options.rate = 1e-4;
  const auto text = learning_rates(options, {45, 100});
  options.name = "one-cycle-peak";
  options.rate = 1e-3;
  EXPECT_EQ(learning_rates(options, {45, 100}), text);
  EXPECT_NEAR(*std::max_element(text.begin(), text.end()), 1e-3, 1e-6);
  EXPECT_NEAR(text[1500], 1e-3, 1e-6);  // half the cycle of 30 epochs
  EXPECT_NEAR(text[3000], 1e-4, 1e-6);
  EXPECT_NEAR(text.back(), 1e-6, 1e-7);
}

TEST(Schedule, RisesLinearlyThenFallsByACosine) {
  auto options = of("cosine");
  options.rate = 1.0;
  options.settings = {{"last_rate", 0.0}, {"warm_up", 0.2}};
  const auto rates = learning_rates(options, {10, 100});
  EXPECT_NEAR(rates[99], 0.4975, 1e-9);
  EXPECT_NEAR(rates[199], 0.9975, 1e-9);
  EXPECT_NEAR(rates[599] + rates[600], 1.0, 1e-9);
  EXPECT_LT(rates.back(), 1e-5);
}

TEST(Schedule, ChangesOnlyBetweenEpochsIfAsked) {
  auto options = of("cosine");
  options.each_step = false;
  const auto rates = learning_rates(options, {4, 50});
  for (size_t epoch = 0; epoch < 4; ++epoch)
    for (size_t step = 0; step < 50; ++step) EXPECT_EQ(rates[epoch * 50 + step], rates[epoch * 50]);
  EXPECT_GT(rates[0], rates[50]);
}

TEST(Schedule, GivesEveryStepARateAboveZero) {
  for (const auto& schedule : schedules()) {
    auto options = of(schedule.name);
    options.rate = 1e-2;
    const auto rates = learning_rates(options, {40, 3});
    EXPECT_EQ(rates.size(), 120u) << schedule.name;
    EXPECT_GT(*std::min_element(rates.begin(), rates.end()), 0.0) << schedule.name;
    EXPECT_LE(*std::max_element(rates.begin(), rates.end()), 0.1) << schedule.name;
  }
}

TEST(Schedule, RejectsWhatMakesNoSense) {
  auto exponential = of("exponential");
  exponential.settings = {{"decay", 0.0}};
  EXPECT_THROWS(ArgumentError, learning_rates(exponential, {10, 5}), "exponential: decay should be above 0, found 0");
  EXPECT_THROWS(
      ArgumentError, learning_rates(of("linear"), {10, 5}),
      "schedule: name should be one of constant, exponential, cosine, one-cycle, one-cycle-peak, found linear");
  EXPECT_THROWS(ArgumentError, learning_rates(of("one-cycle"), {10, 5}),
                "learning_rates: cycle should be in (0, 10], the epochs, found 30");
}

}  // namespace
}  // namespace priornet
