#include <priornet/deploy/thresholds.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_models.h>
#include <testing/throws.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

TEST(WatchedMeasures, AreThoseThatSpeakForACause) {
  using Watched = std::vector<std::pair<Verdict, std::string>>;
  EXPECT_EQ(watched_measures(true, true), (Watched{{Verdict::kUnfamiliar, "differential_entropy"},
                                                   {Verdict::kUndecided, "mutual_information_y_theta"},
                                                   {Verdict::kAmbiguous, "expected_entropy"}}));
  EXPECT_EQ(watched_measures(true, false),
            (Watched{{Verdict::kUnfamiliar, "differential_entropy"}, {Verdict::kAmbiguous, "expected_entropy"}}));
  EXPECT_EQ(watched_measures(false, true), (Watched{{Verdict::kUnfamiliar, "energy"},
                                                    {Verdict::kUndecided, "mutual_information"},
                                                    {Verdict::kAmbiguous, "expected_entropy"}}));
  EXPECT_EQ(watched_measures(false, false),
            (Watched{{Verdict::kUnfamiliar, "energy"}, {Verdict::kAmbiguous, "entropy"}}));
}

Predictions made_up(int64_t count, uint64_t seed) {
  auto generator = make_generator(seed);
  Predictions said;
  said.prediction = torch::zeros({count}, torch::kInt64);
  said.logits = 3 * torch::randn({count, 4}, generator, torch::kFloat64);
  for (const char* name : {"differential_entropy", "expected_entropy"})
    said.scores.push_back({name, torch::randn({count}, generator, torch::kFloat64) - 9});
  return said;
}

// Labels drawn from softmax(logits / 2): the likelihood is largest near T = 2.
TEST(Calibrate, FindsTheTemperatureThatLabelsWereDrawnAt) {
  const auto said = made_up(20000, 1);
  const auto labels = torch::multinomial(torch::softmax(said.logits / 2, 1), 1, true, make_generator(2)).squeeze(1);
  EXPECT_NEAR(fit_temperature(said.logits, labels), 2.0, 0.08);
  const auto twice = torch::stack({said.logits, said.logits});
  EXPECT_NEAR(fit_temperature(twice, labels), fit_temperature(said.logits, labels), 1e-3);
}

// 88 of 90 small logits are right. The loss has a minimum near T = 0.48, where the Gaussian of ln T is still small, but
// is smaller by 0.2 at the end of the range, T = 1/20.
TEST(Calibrate, FindsTheBestOfSeveralTemperatures) {
  auto logits = torch::zeros({90, 10}, torch::kFloat64);
  const auto labels = torch::zeros({90}, torch::kInt64);
  logits.slice(0, 2).select(1, 0).fill_(0.05);
  logits.slice(0, 0, 2).select(1, 1).fill_(0.05);
  EXPECT_NEAR(fit_temperature(logits, labels), 0.05, 1e-3);
}

TEST(Calibrate, RejectsTheChosenShareOfNewInputs) {
  const auto watched = watched_measures(true, false);
  const auto said = made_up(4000, 5);
  const auto points = calibrate(said, {}, watched, {0.1, false});
  EXPECT_EQ(points.temperature, 1.0);
  EXPECT_EQ(points.calibration_size, 4000);
  ASSERT_EQ(points.watches.size(), 2u);
  EXPECT_EQ(points.watches[0].measure, "differential_entropy");
  const auto fresh = made_up(20000, 6);
  int64_t rejected = 0;
  for (const auto& decision : decide(points, {fresh.scores[0].values, fresh.scores[1].values}))
    rejected += decision.verdict != Verdict::kAccept ? 1 : 0;
  // The share given 4000 values has a standard deviation of sqrt(0.1 * 0.9 / 4000) = 0.0047 around 0.1.
  EXPECT_NEAR(static_cast<double>(rejected) / 20000, 0.1, 0.02);
}

TEST(Calibrate, KnowsHowManyInputsItTakes) {
  EXPECT_EQ(least_calibration_size(0.05), 19);  // p = 1 / 20
  const auto watched = watched_measures(true, false);
  EXPECT_TRUE(std::isfinite(rejection_level(calibrate(made_up(19, 1), {}, watched, {0.05, false}))));
  EXPECT_TRUE(std::isinf(rejection_level(calibrate(made_up(18, 1), {}, watched, {0.05, false}))));
}

// Nothing exceeds ln 4, the entropy of four equal classes.
TEST(Calibrate, NamesThresholdsThatNoInputReaches) {
  auto said = made_up(40, 1);
  said.scores[1].values = torch::full({40}, std::log(4.0), torch::kFloat64);
  const auto watched = watched_measures(true, false);
  const auto said_of = [&](const CalibrationOptions& options) {
    return unreachable_thresholds(calibrate(said, {}, watched, options), 4);
  };
  EXPECT_EQ(said_of({0.05, false}),
            (std::vector<std::string>{"expected_entropy: its threshold of 1.3863 is at its bound of 1.3863"}));
  EXPECT_EQ(said_of({0.01, false}),
            (std::vector<std::string>{"differential_entropy: 40 inputs are too few for a rate of 0.01; 99 are needed",
                                      "expected_entropy: 40 inputs are too few for a rate of 0.01; 99 are needed"}));
}

// The flat Dirichlet of two classes has a differential entropy of 0.
TEST(Calibrate, NamesABoundOfZeroWithoutASign) {
  OperatingPoints points;
  points.watches = {{Verdict::kUnfamiliar, "differential_entropy", torch::zeros({9}, torch::kFloat64), 0.5}};
  EXPECT_FALSE(can_reject(points.watches[0], 2));
  EXPECT_EQ(unreachable_thresholds(points, 2),
            (std::vector<std::string>{"differential_entropy: its threshold of 0.5 is above its bound of 0"}));
  points.watches[0].threshold = -0.25;
  EXPECT_TRUE(can_reject(points.watches[0], 2));
}

// Half of the inputs of two classes that are equally likely belong to the other class.
TEST(Calibrate, KnowsTheBoundOfAVariance) {
  Watch watch{Verdict::kAmbiguous, "aleatoric_variance", torch::zeros({9}, torch::kFloat64), 0.5};
  EXPECT_FALSE(can_reject(watch, 2));
  EXPECT_TRUE(can_reject(watch, 3));
}

TEST(Calibrate, WatchesOnlyWhatTheNetworkGives) {
  for (const auto* method : {"dpn", "dnn"})
    for (const int64_t samples : {0, 3}) {
      auto model = small_model(method);
      model.points.reset();
      model.dropout_samples = samples;
      const auto said = Predictor(model).predict(small_images(60, 3).inputs);
      const auto watched = watched_measures(method_info(method).gives_dirichlet, samples > 0);
      EXPECT_EQ(watched.size(), samples > 0 ? 3u : 2u);
      EXPECT_NO_THROW(calibrate(said, small_images(60, 3).labels, watched, {}));
    }
}

// Of these three members one is sure of class 1 and two lean towards class 0. At T = 1 the sure one decides, at a high
// temperature too; at a low one all are sure, and the majority decides.
TEST(Calibrate, GroupsInputsByTheClassThatIsPredictedAtItsTemperature) {
  constexpr int64_t kInputs = 400;
  const auto members = torch::tensor({{0.0, 10.0}, {1.0, 0.0}, {1.0, 0.0}}, torch::kFloat64);
  Predictions said;
  said.logits = members.unsqueeze(1).expand({3, kInputs, 2}).contiguous();
  said.prediction = torch::ones({kInputs}, torch::kInt64);
  said.scores.push_back({"entropy", torch::arange(kInputs, torch::kFloat64)});
  const auto labels = torch::zeros({kInputs}, torch::kInt64);  // the majority is right: a low temperature fits best
  const auto points = calibrate(said, labels, {{Verdict::kAmbiguous, "entropy"}}, {0.05, true});
  const auto predicted = std::get<1>(probabilities_at(said.logits, points.temperature).max(1));
  ASSERT_EQ(predicted[0].item<int64_t>(), 0);
  ASSERT_FALSE(points.groups.empty());
  for (const auto& group : points.groups)
    if (std::find(group.classes.begin(), group.classes.end(), 0) != group.classes.end())
      EXPECT_EQ(group.rarities.size(0), kInputs);
}

TEST(Calibrate, RefusesWhatCannotBe) {
  const auto said = made_up(10, 1);
  for (const char* confidence : {"max_prob", "precision", "prediction"})
    EXPECT_THROWS(
        ArgumentError, calibrate(said, {}, {{Verdict::kUnfamiliar, confidence}}, {}),
        (std::string("calibrate: a verdict watches scores that are high for doubtful inputs, found ") + confidence)
            .c_str());
  EXPECT_THROWS(ArgumentError, calibrate(said, {}, {{Verdict::kUndecided, "epkl"}}, {}),
                "calibrate: the network gives no epkl");
  EXPECT_THROWS(ArgumentError, calibrate(said, {}, watched_measures(true, false), {1.5, false}),
                "calibrate: false_alarm should be between 0 and 1, found 1.5");
  EXPECT_THROWS(ArgumentError, calibrate(made_up(1, 1), {}, watched_measures(true, false), {}),
                "calibrate: should be given at least 2 inputs, found 1");
  EXPECT_THROWS(ArgumentError, calibrate(said, {}, {}, {}),
                "calibrate: should be given at least one measure to watch, found none");
  for (const int64_t labels : {9, 11})
    EXPECT_THROWS(ArgumentError,
                  calibrate(said, torch::zeros({labels}, torch::kInt64), watched_measures(true, false), {}),
                  ("calibrate: labels should be of shape [10], found shape [" + std::to_string(labels) + "]").c_str());
}

}  // namespace
}  // namespace priornet
