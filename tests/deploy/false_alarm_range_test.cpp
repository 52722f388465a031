#include <priornet/deploy/thresholds.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>

#include <cmath>

namespace priornet {
namespace {

// k = 1 of 19: the law is Beta(1, 19), whose distribution function is 1 - (1 - x)^19.
TEST(FalseAlarmRange, IsThatOfABetaLaw) {
  const auto range = false_alarm_range(19, 0.05);
  EXPECT_DOUBLE_EQ(range.mean, 0.05);
  EXPECT_NEAR(range.low, 1 - std::pow(0.975, 1.0 / 19), 1e-12);
  EXPECT_NEAR(range.high, 1 - std::pow(0.025, 1.0 / 19), 1e-12);
}

TEST(FalseAlarmRange, NarrowsAsANormalLawDoesForManyValues) {
  const auto range = false_alarm_range(199'999, 0.05);
  const auto deviation = std::sqrt(0.05 * 0.95 / 200'000);
  EXPECT_NEAR(range.low, 0.05 - 1.96 * deviation, 0.02 * deviation);
  EXPECT_NEAR(range.high, 0.05 + 1.96 * deviation, 0.02 * deviation);
}

TEST(FalseAlarmRange, IsNothingWhereNothingIsRejected) {
  EXPECT_EQ(false_alarm_range(18, 0.05).high, 0.0);
  EXPECT_THROWS(ArgumentError, false_alarm_range(0, 0.05), "false_alarm_range: values should be above 0, found 0");
  EXPECT_THROWS(ArgumentError, false_alarm_range(9, 1.0), "false_alarm_range: rate should be between 0 and 1, found 1");
}

double normal_share_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// The whole promise: calibration sets are drawn, and as both measures are independent normal numbers, the share of
// false alarms that each set's thresholds lead to is known exactly, without asking new inputs.
TEST(FalseAlarmRange, HoldsWhatCalibrationComesTo) {
  constexpr int64_t kDraws = 3000;
  for (const int64_t size : {38, 118, 400}) {
    const auto range = false_alarm_range(size - size / 2, 0.1);
    double sum = 0.0;
    double squares = 0.0;
    int64_t above = 0;
    auto generator = make_generator(static_cast<uint64_t>(size));
    for (int64_t draw = 0; draw < kDraws; ++draw) {
      Predictions said;
      said.prediction = torch::zeros({size}, torch::kInt64);
      said.logits = torch::zeros({size, 2}, torch::kFloat64);
      for (const char* name : {"differential_entropy", "expected_entropy"})
        said.scores.push_back({name, torch::randn({size}, generator, torch::kFloat64)});
      const auto points = calibrate(said, {}, watched_measures(true, false), {0.1, static_cast<uint64_t>(draw)});
      const auto share =
          1 - normal_share_below(points.watches[0].threshold) * normal_share_below(points.watches[1].threshold);
      sum += share;
      squares += share * share;
      above += share > range.high ? 1 : 0;
    }
    const auto mean = sum / kDraws;
    const auto error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    EXPECT_LE(mean, 0.1 + 4 * error) << size;
    EXPECT_GE(mean, 0.07) << size;  // nor is much of the rate given away
    EXPECT_LE(static_cast<double>(above) / kDraws, 0.025 + 4 * std::sqrt(0.025 * 0.975 / kDraws)) << size;
  }
}

}  // namespace
}  // namespace priornet
