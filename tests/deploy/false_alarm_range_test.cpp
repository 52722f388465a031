#include <fmt/format.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>

#include <array>
#include <cmath>

namespace priornet {
namespace {

// With k = 1 of 19 the share follows Beta(1, 19), whose distribution function is 1 - (1 - x)^19.
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

// A measure has 39 values, a detector 400 more: the range is not that of 439.
TEST(FalseAlarmRange, IsAsWideAsTheFewestValuesMakeIt) {
  auto generator = make_generator(5);
  const auto draw = [&](int64_t count) { return torch::randn({count}, generator, torch::kFloat64); };
  const auto points = operating_points(
      {{Verdict::kUnfamiliar, "measure", draw(39), {}}, {Verdict::kUnfamiliar, "detector", draw(39), draw(400)}}, 0.05);
  const auto few = false_alarm_range(39, 0.05), many = false_alarm_range(439, 0.05), found = false_alarm_range(points);
  EXPECT_DOUBLE_EQ(found.high, few.high);
  EXPECT_DOUBLE_EQ(found.low, few.low);
  EXPECT_LT(many.high, few.high);
  EXPECT_NEAR(found.mean, 0.05, 0.01);
}

double normal_share_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// The whole promise, over many calibration sets. Both measures are independent normal numbers, so the share of false
// alarms that follows from the thresholds of each set is known exactly, without new inputs.
TEST(FalseAlarmRange, HoldsWhatCalibrationComesTo) {
  constexpr int64_t kDraws = 3000;
  for (const int64_t size : {38, 118, 400}) {
    const auto range = false_alarm_range(size, 0.1);
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
      const auto points = calibrate(said, {}, watched_measures(true, false), {0.1, false});
      const auto share =
          1 - normal_share_below(points.watches[0].threshold) * normal_share_below(points.watches[1].threshold);
      sum += share;
      squares += share * share;
      above += share > range.high ? 1 : 0;
    }
    const auto mean = sum / kDraws;
    const auto error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    EXPECT_LE(mean, 0.1 + 4 * error) << size;
    EXPECT_GE(mean, 0.07) << size;  // nor is the share far below the rate
    EXPECT_LE(static_cast<double>(above) / kDraws, 0.025 + 4 * std::sqrt(0.025 * 0.975 / kDraws)) << size;
  }
}

// Whole numbers from 0 to 4 give many equal ranks. The share above each number is known exactly.
TEST(FalseAlarmRange, HoldsWhereRanksTie) {
  constexpr int64_t kDraws = 2000;
  constexpr std::array<double, 5> kShareAbove = {0.9, 0.6, 0.15, 0.06, 0.0};
  auto generator = make_generator(7);
  int64_t outside = 0;
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const auto uniform = torch::rand({200}, generator, torch::kFloat64);
    auto values = torch::zeros({200}, torch::kFloat64);
    for (const auto share : kShareAbove) values += uniform.lt(share).to(torch::kFloat64);
    const auto points = operating_points({{Verdict::kUnfamiliar, "whole", values}}, 0.1);
    const auto range = false_alarm_range(points);
    const auto threshold = points.watches[0].threshold;
    const auto share = threshold >= 4 ? 0.0 : kShareAbove[static_cast<size_t>(std::floor(threshold))];
    EXPECT_LE(range.mean, 0.1);
    outside += share < range.low || share > range.high ? 1 : 0;
  }
  EXPECT_LE(static_cast<double>(outside) / kDraws, 0.05);
}

// The numbers of docs/deploy.md: 2,000 calibration sets, three correlated measures, two classes of different spread;
// the second class is rare and has the larger values. The share is counted on 200 new inputs per set.
TEST(FalseAlarmRange, IsNeverMoreThanChosenOnAveragePlainAndPerClass) {
  constexpr int64_t kDraws = 2000;
  constexpr int64_t kNew = 200;
  constexpr double kRate = 0.05;
  for (const int64_t size : {40, 100, 1000})
    for (const bool per_class : {false, true}) {
      auto generator = make_generator(static_cast<uint64_t>(2 * size) + (per_class ? 1 : 0));
      std::array<double, 2> rejected = {}, asked = {};
      for (int64_t draw = 0; draw < kDraws; ++draw) {
        const auto classes = torch::rand({size + kNew}, generator, torch::kFloat64).lt(0.3).to(torch::kInt64);
        const auto shared = torch::randn({size + kNew}, generator, torch::kFloat64);
        std::vector<WatchedValues> watched;
        std::vector<torch::Tensor> fresh;
        for (const auto cause : {Verdict::kUnfamiliar, Verdict::kUnfamiliar, Verdict::kAmbiguous}) {
          const auto own = torch::randn({size + kNew}, generator, torch::kFloat64);
          const auto values = (shared + own) * (1 + classes) + classes;
          watched.push_back({cause, fmt::format("m{}", watched.size()), values.narrow(0, 0, size)});
          fresh.push_back(values.narrow(0, size, kNew).contiguous());
        }
        const auto predicted = classes.narrow(0, size, kNew).contiguous();
        const auto points = operating_points(
            watched, kRate, per_class ? PredictedClasses{classes.narrow(0, 0, size), 2} : PredictedClasses{});
        const auto decisions = decide(points, fresh, predicted);
        for (size_t i = 0; i < decisions.size(); ++i) {
          const auto of = static_cast<size_t>(predicted.data_ptr<int64_t>()[i]);
          asked[of] += 1;
          rejected[of] += decisions[i].verdict != Verdict::kAccept ? 1 : 0;
        }
      }
      const auto all = (rejected[0] + rejected[1]) / (asked[0] + asked[1]);
      RecordProperty(fmt::format("{} {}", size, per_class ? "per class" : "plain"),
                     fmt::format("{:.4f} {:.4f} {:.4f}", all, rejected[0] / asked[0], rejected[1] / asked[1]));
      // 4 standard errors: a share scatters by sqrt(a (1 - a) / size) with the calibration set, and so do new inputs.
      const auto margin = [&](double count) {
        const auto fresh = kNew * count / static_cast<double>(size);
        return 4 * std::sqrt(kRate * (1 - kRate) * (1 / count + 1 / fresh) / kDraws);
      };
      EXPECT_LE(all, kRate + margin(static_cast<double>(size))) << size << " " << per_class;
      EXPECT_GE(all, kRate - 2.5 / static_cast<double>(size)) << size << " " << per_class;
      if (per_class && size >= 100) {
        EXPECT_LE(rejected[0] / asked[0], kRate + margin(0.7 * static_cast<double>(size))) << size;
        EXPECT_LE(rejected[1] / asked[1], kRate + margin(0.3 * static_cast<double>(size))) << size;
      }
    }
}

}  // namespace
}  // namespace priornet
