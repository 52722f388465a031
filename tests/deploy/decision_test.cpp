#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>

#include <cmath>

namespace priornet {
namespace {

torch::Tensor numbers(const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64); }

torch::Tensor sorted(const torch::Tensor& values) { return std::get<0>(values.sort()); }

OperatingPoints points_of(const std::vector<Watch>& watches, const torch::Tensor& rarities, double false_alarm) {
  OperatingPoints points;
  points.watches = watches;
  points.rarities = rarities;
  points.false_alarm = false_alarm;
  set_thresholds(points);
  return points;
}

OperatingPoints one_watch() {
  return points_of({{Verdict::kUnfamiliar, "differential_entropy", numbers({1, 2, 3, 4, 5}), 0}},
                   numbers({0.0, 0.2, 0.2, 0.4, 0.6, 0.8, 0.8, 1.0, 1.5}), 0.2);
}

TEST(Decision, RarityIsTheShareBelowAndGoesOnAboveTheReference) {
  const auto watch = one_watch().watches[0];
  EXPECT_EQ(spread_of(watch), 2);
  EXPECT_TRUE(rarity(watch, numbers({0, 1, 1.5, 5, 5.5, 9})).equal(numbers({0, 0, 0.2, 0.8, 1.25, 3})));
}

// With 9 inputs and a rate of 0.2, p = (1 + #) / 10 <= 0.2 allows one value as large. So the level is the second
// largest value.
TEST(Decision, CountsTheCalibrationInputsThatAreAtLeastAsRare) {
  const auto points = one_watch();
  EXPECT_EQ(rejection_level(points), 1.0);
  const auto decisions = decide(points, {numbers({0, 5, 5.1, 6, 6.1})});
  const std::vector<double> p = {1.0, 0.5, 0.2, 0.2, 0.1};
  for (size_t i = 0; i < p.size(); ++i) {
    EXPECT_EQ(decisions[i].p_value, p[i]) << i;
    EXPECT_EQ(decisions[i].verdict, p[i] <= 0.2 ? Verdict::kUnfamiliar : Verdict::kAccept) << i;
  }
}

TEST(Decision, RejectsJustAboveTheThresholdOfAWatch) {
  auto points = one_watch();
  for (const double rate : {0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.9}) {
    points.false_alarm = rate;
    set_thresholds(points);
    const auto threshold = points.watches[0].threshold;
    const auto decisions = decide(points, {numbers({threshold, threshold * (1 + 1e-13), threshold * (1 + 1e-11)})});
    EXPECT_EQ(decisions[0].verdict, Verdict::kAccept) << rate;
    EXPECT_EQ(decisions[1].verdict, Verdict::kAccept) << rate << ": rounding rejects";
    EXPECT_EQ(decisions[2].verdict, Verdict::kUnfamiliar) << rate;
  }
}

TEST(Decision, RejectsNothingAfterTooFewCalibrationInputs) {
  auto points = one_watch();
  points.false_alarm = 0.09;  // below 1 / 10, the smallest p-value
  set_thresholds(points);
  EXPECT_TRUE(std::isinf(points.watches[0].threshold));
  EXPECT_EQ(decide(points, {numbers({1e9})})[0].verdict, Verdict::kAccept);
}

TEST(Decision, NeverTrustsARarerInputMore) {
  const auto points = one_watch();
  const auto decisions = decide(points, {torch::linspace(-1, 12, 500, torch::kFloat64)});
  for (size_t i = 1; i < decisions.size(); ++i) EXPECT_LE(decisions[i].p_value, decisions[i - 1].p_value) << i;
}

TEST(Decision, NamesTheFirstCauseThatAloneRejects) {
  const auto reference = torch::arange(100, torch::kFloat64);
  const auto points = points_of({{Verdict::kAmbiguous, "expected_entropy", reference, 0},
                                 {Verdict::kUnfamiliar, "differential_entropy", reference, 0},
                                 {Verdict::kUndecided, "mutual_information", reference, 0}},
                                torch::arange(99, torch::kFloat64) / 99, 0.05);
  const auto decisions =
      decide(points, {numbers({0, 500, 500, 500, 0}), numbers({0, 0, 98, 0, 0}), numbers({0, 0, 98, 98, 98})});
  const std::vector<Verdict> causes = {Verdict::kAccept, Verdict::kAmbiguous, Verdict::kUnfamiliar, Verdict::kUndecided,
                                       Verdict::kUndecided};
  for (size_t i = 0; i < causes.size(); ++i) EXPECT_EQ(decisions[i].verdict, causes[i]) << i;
}

// Of two watches of one cause the rarer one is named, or the first one if both are equally rare. A rarer watch of
// another cause is not named.
TEST(Decision, NamesTheWatchThatSpoke) {
  const auto reference = torch::arange(100, torch::kFloat64);
  const auto points = points_of({{Verdict::kAmbiguous, "entropy", reference, 0},
                                 {Verdict::kUnfamiliar, "energy", reference, 0},
                                 {Verdict::kUnfamiliar, "knn", reference, 0}},
                                torch::arange(99, torch::kFloat64) / 99, 0.05);
  const auto decisions =
      decide(points, {numbers({0, 500, 900, 900, 0}), numbers({0, 0, 0, 500, 300}), numbers({0, 0, 300, 500, 500})});
  const std::vector<std::string> spoke = {"", "entropy", "knn", "energy", "knn"};
  for (size_t i = 0; i < spoke.size(); ++i) EXPECT_EQ(decisions[i].watch, spoke[i]) << i;
}

// A network gives the same value for every input it knows. An input with another value is rejected, and nothing is
// divided by zero.
TEST(Decision, ManagesAConstantReference) {
  const auto points = points_of({{Verdict::kUnfamiliar, "energy", torch::full({50}, -3.0, torch::kFloat64), 0}},
                                torch::zeros({50}, torch::kFloat64), 0.05);
  const auto decisions = decide(points, {numbers({-3.0, -4.0, -2.9})});
  EXPECT_EQ(decisions[0].verdict, Verdict::kAccept);
  EXPECT_EQ(decisions[1].verdict, Verdict::kAccept);
  EXPECT_EQ(decisions[2].verdict, Verdict::kUnfamiliar);
}

// Correlated measures, rounded so that there are many ties: over draws of calibration and test inputs the rejected
// share stays below the rate. With 40,000 test inputs the standard error of that share is at most 0.0015 (inputs of one
// draw depend on each other, but there are many draws), and 0.006 is 4 standard errors.
TEST(Decision, RejectsNoMoreThanPromisedWhateverTheSizeAndTheTies) {
  for (const int64_t n : {19, 50, 400})
    for (const double digits : {0.5, 1000.0}) {
      int64_t rejected = 0;
      int64_t asked = 0;
      for (uint64_t draw = 0; draw < 2000; ++draw) {
        auto generator = make_generator(1000 * draw + static_cast<uint64_t>(n));
        const auto shared = torch::randn({2 * n + 20, 1}, generator, torch::kFloat64);
        const auto own = torch::randn({2 * n + 20, 2}, generator, torch::kFloat64);
        const auto scores = ((shared + own) * digits).round() / digits;
        std::vector<Watch> watches;
        torch::Tensor rarities;
        std::vector<torch::Tensor> test;
        for (int64_t w = 0; w < 2; ++w) {
          watches.push_back({w == 0 ? Verdict::kUnfamiliar : Verdict::kAmbiguous, "m",
                             sorted(scores.select(1, w).narrow(0, 0, n)), 0});
          const auto of_watch = rarity(watches.back(), scores.select(1, w).narrow(0, n, n));
          rarities = w == 0 ? of_watch : torch::maximum(rarities, of_watch);
          test.push_back(scores.select(1, w).narrow(0, 2 * n, 20).contiguous());
        }
        for (const auto& decision : decide(points_of(watches, sorted(rarities), 0.05), test)) {
          rejected += decision.verdict != Verdict::kAccept ? 1 : 0;
          ++asked;
        }
      }
      const auto share = static_cast<double>(rejected) / static_cast<double>(asked);
      EXPECT_LE(share, 0.05 + 0.006) << n << " " << digits;
      // The share is not far below the rate either: only whole numbers and ties among n values cost something.
      const auto size = static_cast<double>(n);
      EXPECT_GE(share, digits > 1 ? std::floor(0.05 * (size + 1)) / (size + 1) - 2 / size : 0.0) << n;
    }
}

/// By definition: the score of each of N + 1 inputs is the largest of its ranks among the N others, over all watches.
/// An input above all others is ranked further by its lead over them, in units of their spread.
double full_conformal_p_value(const std::vector<torch::Tensor>& values, const std::vector<double>& input) {
  const auto size = values[0].size(0);
  std::vector<double> scores(static_cast<size_t>(size + 1));
  for (size_t w = 0; w < values.size(); ++w) {
    const auto all = torch::cat({values[w], numbers({input[w]})});
    for (int64_t i = 0; i <= size; ++i) {
      const auto own = all[i].item<double>();
      const auto others = sorted(torch::cat({all.narrow(0, 0, i), all.narrow(0, i + 1, size - i)}));
      const auto largest = others[-1].item<double>();
      auto score = others.lt(own).sum().item<double>() +
                   static_cast<double>(values.size() - 1 - w) / static_cast<double>(values.size());
      score /= static_cast<double>(size);
      if (own > largest) score += (own - largest) / (largest - others[size / 2].item<double>());
      scores[static_cast<size_t>(i)] = std::max(scores[static_cast<size_t>(i)], score);
    }
  }
  const auto at_least =
      std::count_if(scores.begin(), scores.end(), [&](double s) { return s >= scores.back() - 1e-12; });
  return static_cast<double>(at_least) / static_cast<double>(size + 1);
}

TEST(Decision, RanksAnInputAmongAllThatCalibratedAndItself) {
  int64_t same = 0;
  for (uint64_t draw = 0; draw < 40; ++draw) {
    auto generator = make_generator(draw);
    const auto shared = torch::randn({33, 1}, generator, torch::kFloat64);
    const auto all = shared + torch::randn({33, 3}, generator, torch::kFloat64) * 2;
    std::vector<WatchedValues> watched;
    std::vector<torch::Tensor> values, fresh;
    for (int64_t w = 0; w < 3; ++w) {
      values.push_back(all.select(1, w).narrow(0, 0, 25).contiguous());
      fresh.push_back(all.select(1, w).narrow(0, 25, 8).contiguous());
      watched.push_back({Verdict::kUnfamiliar, "m", values.back()});
    }
    const auto decisions = decide(operating_points(watched, 0.2), fresh);
    for (int64_t i = 0; i < 8; ++i) {
      std::vector<double> input;
      bool above = false;
      for (size_t w = 0; w < 3; ++w) {
        input.push_back(fresh[w][i].item<double>());
        above = above || input.back() > values[w].max().item<double>();
      }
      const auto exact = full_conformal_p_value(values, input);
      const auto found = decisions[static_cast<size_t>(i)].p_value;
      if (above)
        EXPECT_GE(found, exact);  // the library uses the largest lead that the others can have
      else
        EXPECT_DOUBLE_EQ(found, exact) << draw << " " << i;
      same += found == exact ? 1 : 0;
    }
  }
  EXPECT_GE(same, 300);  // of 320
}

// Class 0 has 40 inputs. Classes 2 and 3 have 9 and none, too few at 5 %, so they join class 1, the next larger class.
TEST(Decision, JudgesByThePredictedClass) {
  std::vector<int64_t> classes(40, 0);
  classes.insert(classes.end(), 19, 1);
  classes.insert(classes.end(), 9, 2);
  const auto predicted = torch::tensor(classes, torch::kInt64);
  const auto values = torch::arange(68, torch::kFloat64);
  const auto points = operating_points({{Verdict::kUnfamiliar, "m", values}}, 0.05, {predicted, 4});
  ASSERT_EQ(points.groups.size(), 2u);
  EXPECT_EQ(points.groups[0].classes, (std::vector<int64_t>{0}));
  EXPECT_EQ(points.groups[0].rarities.size(0), 40);
  EXPECT_EQ(points.groups[0].watches[0].threshold, 38);  // two of 41 may be as rare
  EXPECT_EQ(points.groups[1].classes, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(points.groups[1].rarities.size(0), 28);
  const auto decisions = decide(points, {numbers({39, 39, 90, 90})}, torch::tensor({0, 1, 2, 3}, torch::kInt64));
  const std::vector<bool> rejected = {true, false, true, true};
  for (size_t i = 0; i < rejected.size(); ++i) EXPECT_EQ(decisions[i].verdict != Verdict::kAccept, rejected[i]) << i;
  EXPECT_THROWS(ArgumentError, decide(points, {numbers({1})}),
                "decide: the thresholds are per class: predictions should be int64 [N]");
  EXPECT_THROWS(ArgumentError, decide(points, {numbers({1})}, torch::tensor({4}, torch::kInt64)),
                "decide: a predicted class is in none of the groups");
}

TEST(Decision, RefusesWhatItCannotJudge) {
  const auto points = one_watch();
  EXPECT_THROWS(ArgumentError, decide(points, {}), "decide: should be given 1 measures, found 0");
  EXPECT_THROWS(ArgumentError, decide(points, {torch::zeros({2, 2}, torch::kFloat64)}),
                "decide: differential_entropy should be float64 [N], the same N for all measures");
  EXPECT_THROWS(ArgumentError, decide(points, {numbers({NAN})}),
                "decide: differential_entropy should be a number, found NaN");
  auto unsorted = points;
  unsorted.rarities = numbers({1, 0});
  EXPECT_THROWS(ArgumentError, decide(unsorted, {numbers({1})}),
                "operating points: the rarities of calibration inputs should be ascending");
  EXPECT_TRUE(decide(points, {torch::empty({0}, torch::kFloat64)}).empty());
}

}  // namespace
}  // namespace priornet
