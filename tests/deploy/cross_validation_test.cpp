#include <fmt/format.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/detector.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <array>
#include <cmath>
#include <cstdlib>

// Thresholds from few rows: detectors of columns are calibrated with all rows, measures with the rows kept back.

namespace priornet {
namespace {

torch::Tensor in_order(const torch::Tensor& values) { return std::get<0>(values.sort()); }

TEST(CrossValidation, CalibratesWithTheRowsThatTheNetworkLearntFrom) {
  const auto values = torch::arange(19, torch::kFloat64);
  const auto others = torch::arange(81, torch::kFloat64) / 10.0;
  const auto points = operating_points({{Verdict::kUnfamiliar, "columns_shift", values, others}}, 0.05);
  EXPECT_EQ(points.calibration_size, 19);
  EXPECT_EQ(points.combined.size(0), 100);
  EXPECT_TRUE(points.watches[0].reference.equal(in_order(torch::cat({values, others}))));
  // The same as if all rows had been kept back.
  const auto plain = operating_points({{Verdict::kUnfamiliar, "columns_shift", torch::cat({values, others})}}, 0.05);
  EXPECT_EQ(points.watches[0].threshold, plain.watches[0].threshold);
  const auto asked = torch::linspace(-1, 30, 300, torch::kFloat64);
  const auto said = decide(points, {asked});
  const auto same = decide(plain, {asked});
  for (size_t i = 0; i < said.size(); ++i)
    EXPECT_EQ(said[i].p_value, same[i].p_value) << asked[static_cast<int64_t>(i)];
}

// A new row above all 19 rows is the rarest of 20, and its tail counts e times: so 1 - e / 20 of the reference lies
// below it. A value twice as far above the middle as the largest row has the tail of 10 times as many rows.
TEST(CrossValidation, EstimatesTheTailOfAMeasureThatFewRowsHave) {
  const auto few = torch::arange(19, torch::kFloat64);
  const auto many = torch::arange(981, torch::kFloat64);
  const auto points = operating_points(
      {{Verdict::kUnfamiliar, "columns_shift", many.narrow(0, 0, 19), many}, {Verdict::kAmbiguous, "entropy", few, {}}},
      0.05);
  const auto& watch = points.watches[1];
  ASSERT_EQ(watch.reference.size(0), 1000);
  const auto share_below = [&](double value) {
    return watch.reference.lt(value).to(torch::kFloat64).mean().item<double>();
  };
  const auto e = std::exp(1.0);
  EXPECT_NEAR(share_below(18.5), 1 - e / 20 * std::pow(0.1, 0.5 / 9), 1e-3);
  EXPECT_NEAR(share_below(18.0 + 1e-9), 1 - e / 20, 1e-3);
  EXPECT_NEAR(share_below(17.5), 1 - 2 * e / 20, 1e-3);
  EXPECT_NEAR(share_below(27.0), 1 - e / 200, 1e-3);
  EXPECT_EQ(share_below(10.0), 0.0);  // half of the rows are as large
}

// A measure and a detector, each alone: the p-value is never below the measure's own rank among the rows kept back.
TEST(CrossValidation, NeverTakesAMeasureForRarerThanItsRank) {
  auto generator = make_generator(3);
  const auto few = torch::randn({19}, generator, torch::kFloat64);
  const auto all = torch::randn({100}, generator, torch::kFloat64);
  const auto points =
      operating_points({{Verdict::kUnfamiliar, "columns_shift", all.narrow(0, 0, 19), all.narrow(0, 19, 81)},
                        {Verdict::kAmbiguous, "entropy", few, {}}},
                       0.05);
  const auto just_above = few.max() + 1e-6;
  const auto said = decide(points, {torch::full({1}, -9.0, torch::kFloat64), just_above.reshape({1})});
  EXPECT_GE(said[0].p_value, 1.0 / 20);
  const auto far = decide(points, {torch::full({1}, -9.0, torch::kFloat64), torch::full({1}, 99.0, torch::kFloat64)});
  EXPECT_EQ(far[0].verdict, Verdict::kAmbiguous) << "a measure can still speak";
}

TEST(CrossValidation, RefusesWhatDoesNotFit) {
  const auto values = torch::arange(20, torch::kFloat64);
  EXPECT_THROWS(ArgumentError,
                operating_points({{Verdict::kUnfamiliar, "a", values, values},
                                  {Verdict::kUnfamiliar, "b", values, values.narrow(0, 0, 5)}},
                                 0.05),
                "operating_points: b should be float64 [T], the same T for all measures");
  EXPECT_THROWS(
      ArgumentError,
      operating_points({{Verdict::kUnfamiliar, "a", values, values}}, 0.05, {torch::zeros({20}, torch::kInt64), 2}),
      "operating_points: classes have no thresholds of their own where watches have others");
}

struct SimulatedTables {
  double rejected = 0.0;  ///< of new rows
  double above = 0.0;     ///< share of tables whose rejected share is above the printed range
};

// Tables of three classes in six columns. A fifth to a third of the rows are kept back, and two measures are known for
// these alone. Each table is judged with 400 new rows.
SimulatedTables simulated_tables(int64_t tables, int64_t rows, int64_t kept, double heavy) {
  constexpr int64_t kNew = 400;
  auto generator = make_generator(static_cast<uint64_t>(rows));
  SimulatedTables result;
  for (int64_t table = 0; table < tables; ++table) {
    const auto labels = torch::randint(0, 3, {rows + kNew}, generator, torch::kInt64);
    auto inputs = torch::randn({rows + kNew, 6}, generator, torch::kFloat64) + labels.unsqueeze(1);
    inputs = inputs + heavy * inputs.pow(3);
    const auto hardness = torch::randn({rows + kNew}, generator, torch::kFloat64);
    const auto measure = hardness + torch::randn({rows + kNew}, generator, torch::kFloat64);
    const auto judged =
        cross_validate({"columns_mahalanobis", "columns_shift"}, inputs.narrow(0, 0, rows), labels.narrow(0, 0, rows));
    std::vector<WatchedValues> watched = {
        {Verdict::kUnfamiliar, "differential_entropy", hardness.narrow(0, 0, kept), {}},
        {Verdict::kAmbiguous, "expected_entropy", measure.narrow(0, 0, kept), {}}};
    for (const auto& [name, values] : judged.columns)
      watched.push_back({Verdict::kUnfamiliar, name, values.narrow(0, 0, kept), values.narrow(0, kept, rows - kept)});
    const auto points = operating_points(watched, 0.05);
    DetectorInputs fresh;
    fresh.inputs = inputs.narrow(0, rows, kNew);
    std::vector<torch::Tensor> scores = {hardness.narrow(0, rows, kNew), measure.narrow(0, rows, kNew)};
    for (const auto& [name, values] : detector_columns(judged.detectors, fresh)) scores.push_back(values);
    double rejected = 0.0;
    for (const auto& decision : decide(points, scores))
      rejected += decision.verdict != Verdict::kAccept ? 1.0 / kNew : 0.0;
    result.rejected += rejected / static_cast<double>(tables);
    result.above += rejected > false_alarm_range(points).high ? 1.0 / static_cast<double>(tables) : 0.0;
  }
  return result;
}

void hold_promise(int64_t tables, const std::vector<std::array<int64_t, 2>>& sizes) {
  for (const auto& [rows, kept] : sizes)
    for (const double heavy : {0.0, 0.3}) {
      const auto result = simulated_tables(tables, rows, kept, heavy);
      const auto name = fmt::format("{} rows, {} kept back, {}", rows, kept, heavy > 0 ? "long tails" : "Gaussian");
      fmt::print("{}: {:.2f} % rejected, {:.1f} % of tables above the printed range\n", name, 100 * result.rejected,
                 100 * result.above);
      // The share of one table scatters by about sqrt(a (1 - a) / rows), and by as much for the 400 new rows.
      const auto error =
          std::sqrt(0.05 * 0.95 * (1.0 / static_cast<double>(kept) + 1.0 / 400) / static_cast<double>(tables));
      EXPECT_LE(result.rejected, 0.05 + 4 * error) << name;
      EXPECT_GE(result.rejected, 0.02) << name;
    }
}

TEST(CrossValidation, RejectsNoMoreThanPromised) { hold_promise(60, {{40, 13}, {100, 19}}); }

// The numbers of docs/deploy.md: 2,000 tables of each size.
TEST(CrossValidation, RejectsNoMoreThanPromisedOverManyTables) {
  if (std::getenv("PRIORNET_MANY_TABLES") == nullptr) GTEST_SKIP() << "set PRIORNET_MANY_TABLES";
  hold_promise(2000, {{40, 13}, {100, 19}, {1000, 99}});
}

}  // namespace
}  // namespace priornet
