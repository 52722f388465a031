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
#include <cstdio>
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
  EXPECT_EQ(points.rarities.size(0), 100);
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

// Powers of exponential values, of which the share above any number is known: over many draws a measure takes no more
// of the rate than columns leave. Of 101 ranks columns get round(0.85 * 5.05) = 4.
TEST(CrossValidation, GivesMeasuresNoMoreThanColumnsLeaveOfTheRate) {
  constexpr int64_t kDraws = 2000;
  constexpr double kLeft = 0.05 - 4.0 / 101;
  double before = 0.0;
  for (const double power : {0.5, 1.0, 2.0}) {  // the longer the tail, the more of it is used
    auto generator = make_generator(11);
    double sum = 0.0;
    double squares = 0.0;
    for (int64_t draw = 0; draw < kDraws; ++draw) {
      const auto columns = torch::randn({100}, generator, torch::kFloat64);
      const auto few = (-torch::rand({19}, generator, torch::kFloat64).log()).pow(power);
      const auto points = operating_points(
          {{Verdict::kUnfamiliar, "columns_shift", columns.narrow(0, 0, 19), columns.narrow(0, 19, 81)},
           {Verdict::kAmbiguous, "entropy", few, {}}},
          0.05);
      const auto share = std::exp(-std::pow(points.watches[1].threshold, 1.0 / power));
      sum += share;
      squares += share * share;
    }
    const auto mean = sum / kDraws;
    const auto error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    EXPECT_LE(mean, kLeft + 3 * error) << power;
    EXPECT_GT(mean, before) << power;
    before = mean;
  }
  EXPECT_GE(before, kLeft / 3) << "nor is most of it given away";
}

// Of three values one lies above the median, so that b = (2 / 4) / (2 + q).
TEST(CrossValidation, LooksBeyondAllValuesOfAMeasure) {
  const auto columns = torch::arange(100, torch::kFloat64);
  const auto few = torch::tensor({0.0, 10.0, 13.0}, torch::kFloat64);
  const auto points =
      operating_points({{Verdict::kUnfamiliar, "columns_shift", columns.narrow(0, 0, 3), columns.narrow(0, 3, 97)},
                        {Verdict::kAmbiguous, "entropy", few, {}}},
                       0.05);
  const auto q = 0.5 / (0.05 - 4.0 / 101) - 2.0;
  EXPECT_NEAR(points.watches[1].threshold, 10 + 3 * (1 + q) * (1 + q), 1e-3);
}

// With 399 rows kept back of 800, columns get 34 of 40 ranks and measures 0.05 - 34/801, 3.02 of 400: by rank, exactly.
TEST(CrossValidation, RanksMeasuresWhereEnoughRowsWereKeptBack) {
  auto generator = make_generator(12);
  const auto columns = torch::randn({800}, generator, torch::kFloat64);
  const auto many = torch::randn({399}, generator, torch::kFloat64);
  const auto points = operating_points(
      {{Verdict::kAmbiguous, "entropy", many, {}},
       {Verdict::kUnfamiliar, "columns_shift", columns.narrow(0, 0, 399), columns.narrow(0, 399, 401)}},
      0.05);
  EXPECT_EQ(points.watches[0].measure, "entropy");
  EXPECT_EQ(points.watches[0].threshold, in_order(many)[-3].item<double>());
  EXPECT_EQ(points.watches[1].threshold, in_order(columns)[-34].item<double>());
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
      "operating_points: classes have no thresholds of their own where watches have training values");
}

struct SimulatedTables {
  double rejected = 0.0;     ///< of new rows
  double error = 0.0;        ///< standard error of it
  double by_measures = 0.0;  ///< of new rows
  double above = 0.0;        ///< share of tables whose rejected share is above the printed range
};

struct TableSize {
  int64_t rows;
  int64_t kept;  ///< back, of them
};

struct Shape {
  const char* name;
  double of_columns;   ///< times their third power, added
  double of_measures;  ///< the same: tails longer than exponential
};

constexpr std::array<Shape, 3> kShapes = {
    {{"Gaussian", 0.0, 0.0}, {"long tails", 0.3, 0.0}, {"long tails, of measures too", 0.3, 0.3}}};

// Tables of three classes in six columns, a tenth to a third of the rows kept back, of which alone two measures are
// known; each judged with 400 new rows.
SimulatedTables simulated_tables(int64_t tables, const TableSize& size, const Shape& shape) {
  const auto [rows, kept] = size;
  constexpr int64_t kNew = 400;
  const auto count = static_cast<double>(tables);
  const auto stretched = [](const torch::Tensor& values, double by) { return values + by * values.pow(3); };
  auto generator = make_generator(static_cast<uint64_t>(rows));
  SimulatedTables result;
  double squares = 0.0;
  for (int64_t table = 0; table < tables; ++table) {
    const auto labels = torch::randint(0, 3, {rows + kNew}, generator, torch::kInt64);
    auto inputs = torch::randn({rows + kNew, 6}, generator, torch::kFloat64) + labels.unsqueeze(1);
    inputs = stretched(inputs, shape.of_columns);
    const auto hardness = torch::randn({rows + kNew}, generator, torch::kFloat64);
    const auto first = stretched(hardness, shape.of_measures);
    const auto second =
        stretched(hardness + torch::randn({rows + kNew}, generator, torch::kFloat64), shape.of_measures);
    const auto judged =
        cross_validate({"columns_mahalanobis", "columns_shift"}, inputs.narrow(0, 0, rows), labels.narrow(0, 0, rows));
    std::vector<WatchedValues> watched = {{Verdict::kUnfamiliar, "differential_entropy", first.narrow(0, 0, kept), {}},
                                          {Verdict::kAmbiguous, "expected_entropy", second.narrow(0, 0, kept), {}}};
    for (const auto& [name, values] : judged.columns)
      watched.push_back({Verdict::kUnfamiliar, name, values.narrow(0, 0, kept), values.narrow(0, kept, rows - kept)});
    const auto points = operating_points(watched, 0.05);
    DetectorInputs fresh;
    fresh.inputs = inputs.narrow(0, rows, kNew);
    std::vector<torch::Tensor> scores = {first.narrow(0, rows, kNew), second.narrow(0, rows, kNew)};
    for (const auto& [name, values] : detector_columns(judged.detectors, fresh)) scores.push_back(values);
    double rejected = 0.0;
    for (const auto& decision : decide(points, scores)) {
      if (decision.verdict == Verdict::kAccept) continue;
      rejected += 1.0 / kNew;
      if (decision.watch.find("columns") == std::string::npos) result.by_measures += 1.0 / kNew / count;
    }
    result.rejected += rejected / count;
    squares += rejected * rejected / count;
    result.above += rejected > false_alarm_range(points).high ? 1.0 / count : 0.0;
  }
  result.error = std::sqrt((squares - result.rejected * result.rejected) / count);
  return result;
}

// The promise is an average. `errors`: how many standard errors of it a mean over so few tables may be off.
void hold_promise(int64_t tables, const TableSize& size, double errors) {
  for (const auto& shape : kShapes) {
    const auto result = simulated_tables(tables, size, shape);
    const auto name = fmt::format("{} rows, {} kept back, {}", size.rows, size.kept, shape.name);
    fmt::print(
        "{}: {:.2f} % rejected (standard error {:.2f}), {:.2f} % by measures; {:.1f} % of tables above the printed "
        "range\n",
        name, 100 * result.rejected, 100 * result.error, 100 * result.by_measures, 100 * result.above);
    std::fflush(stdout);
    EXPECT_LE(result.rejected, 0.05 + errors * result.error) << name;
    EXPECT_GE(result.rejected, 0.02) << name;
    EXPECT_LE(result.above, 0.025 + 4 * std::sqrt(0.025 / static_cast<double>(tables))) << name;
  }
}

TEST(CrossValidation, RejectsNoMoreThanPromised) {
  hold_promise(60, {40, 13}, 3.0);
  hold_promise(60, {100, 19}, 3.0);
}

// The numbers of docs/deploy.md: 2,000 tables of each size and shape.
class ManyTables : public testing::TestWithParam<TableSize> {};
TEST_P(ManyTables, RejectNoMoreThanPromised) {
  if (std::getenv("PRIORNET_MANY_TABLES") == nullptr) GTEST_SKIP() << "set PRIORNET_MANY_TABLES";
  hold_promise(2000, GetParam(), 0.0);
}
INSTANTIATE_TEST_SUITE_P(Rows, ManyTables, testing::Values(TableSize{40, 13}, TableSize{100, 19}, TableSize{1000, 99}),
                         [](const auto& named) { return std::to_string(named.param.rows); });

}  // namespace
}  // namespace priornet
