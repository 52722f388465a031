#include <fmt/format.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>

#include <array>
#include <cmath>
#include <cstdlib>

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
  // Two of 40 ranks are allowed; both watches may share one.
  EXPECT_DOUBLE_EQ(found.low, false_alarm_range(39, 0.025).low);
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

struct SimulatedSets {
  std::array<double, 3> share = {};  ///< rejected: of all new inputs, of the first class, of the second
  std::array<double, 3> error = {};  ///< standard errors of these, over sets
};

// 2,000 calibration sets, three correlated measures, two classes of different spread, of which the second is rare and
// has the larger values.
SimulatedSets simulated_sets(int64_t size, bool per_class, int64_t fresh_inputs) {
  constexpr int64_t kDraws = 2000;
  auto generator = make_generator(static_cast<uint64_t>(2 * size) + (per_class ? 1 : 0));
  std::array<double, 3> rejected = {}, asked = {}, squares = {}, products = {}, asked_squares = {};
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const auto classes = torch::rand({size + fresh_inputs}, generator, torch::kFloat64).lt(0.3).to(torch::kInt64);
    const auto shared = torch::randn({size + fresh_inputs}, generator, torch::kFloat64);
    std::vector<WatchedValues> watched;
    std::vector<torch::Tensor> fresh;
    for (const auto cause : {Verdict::kUnfamiliar, Verdict::kUnfamiliar, Verdict::kAmbiguous}) {
      const auto own = torch::randn({size + fresh_inputs}, generator, torch::kFloat64);
      const auto values = (shared + own) * (1 + classes) + classes;
      watched.push_back({cause, fmt::format("m{}", watched.size()), values.narrow(0, 0, size)});
      fresh.push_back(values.narrow(0, size, fresh_inputs).contiguous());
    }
    const auto predicted = classes.narrow(0, size, fresh_inputs).contiguous();
    const auto points = operating_points(
        watched, 0.05, per_class ? PredictedClasses{classes.narrow(0, 0, size), 2} : PredictedClasses{});
    const auto decisions = decide(points, fresh, predicted);
    std::array<double, 3> no = {}, all = {};
    for (size_t i = 0; i < decisions.size(); ++i)
      for (const size_t of : {size_t{0}, static_cast<size_t>(1 + predicted.data_ptr<int64_t>()[i])}) {
        all[of] += 1;
        no[of] += decisions[i].verdict != Verdict::kAccept ? 1 : 0;
      }
    for (size_t of = 0; of < 3; ++of) {
      rejected[of] += no[of];
      asked[of] += all[of];
      squares[of] += no[of] * no[of];
      products[of] += no[of] * all[of];
      asked_squares[of] += all[of] * all[of];
    }
  }
  SimulatedSets result;
  for (size_t of = 0; of < 3; ++of) {
    const auto share = result.share[of] = rejected[of] / asked[of];
    // Of a ratio of sums: the scatter of (rejected - share asked) over sets.
    result.error[of] =
        std::sqrt(squares[of] - 2 * share * products[of] + share * share * asked_squares[of]) / asked[of];
  }
  return result;
}

void hold_promise(int64_t fresh_inputs) {
  for (const int64_t size : {40, 100, 1000})
    for (const bool per_class : {false, true}) {
      const auto found = simulated_sets(size, per_class, fresh_inputs);
      const auto name = fmt::format("{} inputs, {}", size, per_class ? "per class" : "plain");
      fmt::print("{}: {:.2f} % rejected (standard error {:.2f}); first class {:.2f} ({:.2f}), second {:.2f} ({:.2f})\n",
                 name, 100 * found.share[0], 100 * found.error[0], 100 * found.share[1], 100 * found.error[1],
                 100 * found.share[2], 100 * found.error[2]);
      EXPECT_LE(found.share[0], 0.05 + 3 * found.error[0]) << name;
      EXPECT_GE(found.share[0], 0.05 - 2.5 / static_cast<double>(size)) << name;
      if (!per_class || size < 100) continue;
      EXPECT_LE(found.share[1], 0.05 + 3 * found.error[1]) << name;
      EXPECT_LE(found.share[2], 0.05 + 3 * found.error[2]) << name;
    }
}

// P(p <= a) <= a is a theorem here (docs/math.md, section 10): a mean above it by three standard errors is a mistake.
TEST(FalseAlarmRange, IsNeverMoreThanChosenOnAveragePlainAndPerClass) { hold_promise(200); }

// The numbers of docs/deploy.md.
TEST(FalseAlarmRange, IsNeverMoreThanChosenWithManyNewInputs) {
  if (std::getenv("PRIORNET_MANY_TABLES") == nullptr) GTEST_SKIP() << "set PRIORNET_MANY_TABLES";
  hold_promise(4000);
}

}  // namespace
}  // namespace priornet
