#include <priornet/uncertainty/drift.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

namespace priornet {
namespace {

/// Three correlated measures of `count` inputs. The share `unfamiliar` of them lies 4 deviations away.
std::vector<torch::Tensor> stream(int64_t count, double unfamiliar, torch::Generator& generator) {
  const auto shift = torch::rand({count}, generator, torch::kFloat64).lt(unfamiliar).to(torch::kFloat64) * 4;
  const auto shared = torch::randn({count}, generator, torch::kFloat64);
  std::vector<torch::Tensor> values;
  for (int w = 0; w < 3; ++w)
    values.push_back((shared + torch::randn({count}, generator, torch::kFloat64)) / std::sqrt(2.0) + shift);
  return values;
}

OperatingPoints calibrated(int64_t size, torch::Generator& generator) {
  const auto values = stream(size, 0.0, generator);
  return operating_points({{Verdict::kUnfamiliar, "one", values[0]},
                           {Verdict::kUnfamiliar, "two", values[1]},
                           {Verdict::kAmbiguous, "three", values[2]}},
                          0.05);
}

void watch_stream(DriftWatch& watch, const OperatingPoints& points, int64_t count, double unfamiliar,
                  torch::Generator& generator) {
  for (const auto& decision : decide(points, stream(count, unfamiliar, generator))) watch.add(decision.p_value, 0);
}

/// How many inputs the simulation waits for an alarm.
constexpr int64_t kLongestDelay = 2000;

struct Simulation {
  double share = 0.0;  ///< share of streams that alarm without drift
  double margin = 0.0;
  std::vector<int64_t> delays;  ///< inputs from the beginning of a drift to the alarm, ascending; or kLongestDelay

  int64_t delay(double quantile) const {
    return delays.at(static_cast<size_t>(quantile * static_cast<double>(delays.size() - 1)));
  }
};

/// Streams, each with a calibration set of its own; after `length` inputs a fifth of them becomes unfamiliar.
Simulation simulated(int64_t streams, int64_t length, int64_t size, double rate) {
  Simulation result;
  for (int64_t s = 0; s < streams; ++s) {
    auto generator = make_generator(derive_seed(static_cast<uint64_t>(s), "stream"));
    const auto points = calibrated(size, generator);
    DriftWatch watch(points, rate);
    for (int64_t done = 0; done < length; done += 1000)
      watch_stream(watch, points, std::min<int64_t>(1000, length - done), 0.0, generator);
    result.share += watch.state().alarmed() ? 1.0 / static_cast<double>(streams) : 0.0;
    if (watch.state().alarmed()) continue;
    for (int64_t waited = 0; waited < kLongestDelay && !watch.state().alarmed(); waited += 50)
      watch_stream(watch, points, 50, 0.2, generator);
    result.delays.push_back(watch.state().alarmed() ? watch.state().alarm_input - length : kLongestDelay);
  }
  std::sort(result.delays.begin(), result.delays.end());
  result.margin = 4 * std::sqrt(rate * (1 - rate) / static_cast<double>(streams));
  return result;
}

/// Prints the numbers of docs/math.md.
void report(const char* name, const Simulation& result) {
  std::cout << name << ": alarmed " << result.share << "; delay median " << result.delay(0.5) << ", 95 % within "
            << result.delay(0.95) << ", all within " << result.delay(1.0) << "\n";
}

// Few calibration inputs cannot tell how rare the rarest are, so that a drift takes longer to see.
TEST(DriftWatch, SeldomAlarmsWithoutDriftAndSoonWithIt) {
  const auto few = simulated(200, 2000, 50, 0.1);
  const auto many = simulated(200, 2000, 1000, 0.1);
  report("50 calibration inputs", few);
  report("1000 calibration inputs", many);
  EXPECT_LE(few.share, 0.1 + few.margin);
  EXPECT_LE(many.share, 0.1 + many.margin);
  EXPECT_LT(many.delay(0.5), 100);
  EXPECT_LT(many.delay(0.95), 200);
  EXPECT_LT(many.delay(0.5), few.delay(0.5));
}

TEST(DriftWatch, SeesAStreamThatIsForeignFromItsStart) {
  auto generator = make_generator(1);
  const auto points = calibrated(40, generator);
  DriftWatch watch(points, 0.01);
  watch_stream(watch, points, 40, 1.0, generator);
  EXPECT_TRUE(watch.state().alarmed());
  EXPECT_LT(watch.state().alarm_input, 12);
}

// The numbers of docs/math.md: 1,000 streams of 100,000 inputs at 1 %.
TEST(DriftWatch, KeepsItsPromiseOverLongStreams) {
  if (std::getenv("PRIORNET_LONG_STREAMS") == nullptr) GTEST_SKIP() << "set PRIORNET_LONG_STREAMS";
  const auto result = simulated(1000, 100'000, 1000, 0.01);
  report("1000 streams of 100000", result);
  EXPECT_LE(result.share, 0.01);
  EXPECT_LT(result.delay(0.95), 300);
}

// One calibration input: p-values are 1/2 and 1. The first input with p = 1/2 is in the lower half of the reference and
// joins it, so the next such input is in the lower two thirds. A bet of share s and power e pays the mean of 1 - s + s
// e p^(e - 1) over that part.
TEST(DriftWatch, RanksEveryInputAmongThoseBefore) {
  OperatingPoints points;
  points.watches = {{Verdict::kUnfamiliar, "m", torch::zeros({1}, torch::kFloat64), 0}};
  points.rarities = torch::zeros({1}, torch::kFloat64);
  DriftWatch watch(points);
  const auto kept = [](double inputs) { return 1 / std::log2(inputs + 2); };
  const double shares[] = {0.02, 0.1, 0.5};
  double expected = 0;
  const auto pays = [](double share, double power, double p) { return 1 - share + share * std::pow(p, power) / p; };
  for (const double share : shares)
    for (const double power : {0.1, 0.5}) {
      const auto first = (kept(0) - kept(1)) / 6 * pays(share, power, 0.5);
      expected += (first + (kept(1) - kept(2)) / 6) * pays(share, power, 2.0 / 3);
    }
  watch.add(0.5, 0);
  watch.add(0.5, 0);
  EXPECT_NEAR(watch.state().value, expected + kept(2), 1e-12);
  EXPECT_EQ(watch.state().inputs, 2);
  // Then an input with p = 1: it lies above three of the four.
  double after = 0;
  for (const double share : shares)
    for (const double power : {0.1, 0.5}) {
      const auto first = (kept(0) - kept(1)) / 6 * pays(share, power, 0.5);
      const auto second = (first + (kept(1) - kept(2)) / 6) * pays(share, power, 2.0 / 3);
      after += (second + (kept(2) - kept(3)) / 6) * (1 - share + share * (1 - std::pow(0.75, power)) / 0.25);
    }
  watch.add(1.0, 0);
  EXPECT_NEAR(watch.state().value, after + kept(3), 1e-12);
  EXPECT_FALSE(watch.state().alarmed());
}

TEST(DriftWatch, RanksWithinTheGroupOfAClass) {
  const auto values = torch::arange(2000, torch::kFloat64);
  const auto classes = values.ge(1000).to(torch::kInt64);
  const auto points = operating_points({{Verdict::kUnfamiliar, "m", values}}, 0.05, {classes, 2});
  DriftWatch watch(points, 0.01);
  for (int i = 0; i < 40; ++i) watch.add(1.0 / 1001, 1);
  EXPECT_TRUE(watch.state().alarmed());
  EXPECT_THROWS(ArgumentError, watch.add(1.0 / 1001, 2), "DriftWatch: class 2 is in none of the groups");
  EXPECT_THROWS(ArgumentError, watch.add(0.5, 0), "DriftWatch: 0.5 is not a p-value out of 1000 inputs");
  EXPECT_THROWS(ArgumentError, DriftWatch(points, 1.0), "DriftWatch: rate should be between 0 and 1, found 1");
  auto gap = points;
  for (auto& group : gap.groups)
    for (auto& one : group.classes) one *= 2;
  EXPECT_THROWS(ArgumentError, DriftWatch(gap, 0.01).add(1.0 / 1001, 1),
                "DriftWatch: class 1 is in none of the groups");
  gap.groups[0].classes[0] = -1;
  EXPECT_THROWS(ArgumentError, DriftWatch(gap, 0.01), "operating points: a class should be at least 0, found -1");
}

}  // namespace
}  // namespace priornet
