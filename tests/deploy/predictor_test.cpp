#include <priornet/deploy/predictor.h>
#include <priornet/learning/network.h>
#include <priornet/learning/scoring.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_models.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <thread>

namespace priornet {
namespace {

TEST(Predictor, SaysWhatScoringSays) {
  auto model = small_model();
  model.points->temperature = 1.0;
  const auto set = small_images(30, 3);
  NoProgress progress;
  const auto scored = score(model.run, set, {}, progress);
  Predictor predictor(std::move(model));
  const auto said = predictor.predict(set.inputs);
  ASSERT_EQ(said.scores.size(), scored.columns.size());
  for (size_t c = 0; c < scored.columns.size(); ++c) {
    EXPECT_EQ(said.scores[c].name, scored.columns[c].name);
    EXPECT_TRUE(torch::allclose(said.scores[c].values, scored.columns[c].values)) << scored.columns[c].name;
  }
  EXPECT_TRUE(torch::allclose(said.probabilities, scored.probabilities));
  EXPECT_TRUE(said.prediction.equal(scored.probabilities.argmax(1)));
  EXPECT_TRUE(torch::allclose(torch::softmax(said.log_alpha, 1), said.probabilities));
  EXPECT_EQ(said.decisions.size(), 30u);
}

// Detectors also work if the network is asked with dropout; they see it without dropout.
TEST(Predictor, GivesTheScoresOfItsDetectorsToo) {
  auto model = small_model();
  const std::vector<std::string> names = {"knn", "layers_mahalanobis", "vim"};
  model.detectors = small_detectors(model, names);
  const auto set = small_images(30, 3);
  ScoringOptions options;
  options.detectors = model.detectors;
  NoProgress progress;
  const auto scored = score(model.run, set, options, progress);
  const auto said = Predictor(model).predict(set.inputs);
  auto sampled = model;
  sampled.dropout_samples = 3;
  sampled.points.reset();
  const auto with_dropout = Predictor(sampled).predict(set.inputs);
  for (const auto& name : names) {
    ASSERT_NE(said.score(name), nullptr) << name;
    EXPECT_TRUE(torch::allclose(*said.score(name), *scored.find(name))) << name;
    if (name == "vim") continue;  // it looks at logits too
    EXPECT_TRUE(torch::allclose(*with_dropout.score(name), *scored.find(name))) << name;
  }
  EXPECT_EQ(Predictor(model).predict(set.inputs.narrow(0, 0, 0)).score("knn")->size(0), 0);
}

// A detector sees what the measure is blind to, and the answer says so.
TEST(Predictor, RejectsByTheDetectorThatSpoke) {
  auto model = small_table_model();
  model.detectors = small_table_detectors(model, {"columns_shift"});
  model.points =
      small_points({{Verdict::kUnfamiliar, "differential_entropy"}, {Verdict::kUnfamiliar, "columns_shift"}});
  model.points->watches[0].reference = torch::linspace(-1, 1e6, 50, torch::kFloat64);
  model.points->watches[1].reference = torch::linspace(0, 3, 50, torch::kFloat64);
  set_thresholds(*model.points);
  const auto rows =
      model.preprocessing.scale.mean + model.preprocessing.scale.deviation * torch::tensor({{0.0F}, {20.0F}});
  const auto decisions = Predictor(model).predict(rows).decisions;
  EXPECT_EQ(decisions[0].verdict, Verdict::kAccept);
  EXPECT_EQ(decisions[0].watch, "");
  EXPECT_EQ(decisions[1].verdict, Verdict::kUnfamiliar);
  EXPECT_EQ(decisions[1].watch, "columns_shift");
  model.detectors.clear();
  EXPECT_THROWS(DataError, Predictor(model).predict(rows),
                "rows: watches columns_shift, which its network does not give");
}

TEST(Predictor, MakesProbabilitiesMilderByTheTemperature) {
  auto model = small_model();
  const auto inputs = small_images(30, 3).inputs;
  auto cool = model;
  cool.points->temperature = 1.0;
  model.points->temperature = 3.0;
  const auto mild = Predictor(model).predict(inputs);
  const auto plain = Predictor(cool).predict(inputs);
  EXPECT_TRUE(mild.prediction.equal(plain.prediction));
  EXPECT_TRUE(mild.probability.lt(plain.probability).all().item<bool>());
  EXPECT_TRUE(torch::allclose(mild.probabilities, torch::softmax(plain.log_alpha / 3, 1)));
}

TEST(JudgeAgain, SaysWhatTheModelSaysWithItsThresholds) {
  auto model = small_table_model();
  model.detectors = small_table_detectors(model, {"columns_shift", "knn"});
  auto uncalibrated = model;
  uncalibrated.points.reset();
  model.points = small_points({{Verdict::kAmbiguous, "max_prob"}, {Verdict::kUnfamiliar, "columns_shift"}});
  model.points->watches[1].reference = torch::linspace(0, 3, 50, torch::kFloat64);
  set_thresholds(*model.points);
  model.points->temperature = 3.0;
  const auto rows =
      model.preprocessing.scale.mean + model.preprocessing.scale.deviation * torch::tensor({{0.0F}, {20.0F}, {-1.0F}});
  const auto before = Predictor(uncalibrated).predict(rows), wanted = Predictor(model).predict(rows);
  const auto said = judge_again(model, before);
  EXPECT_TRUE(said.probabilities.equal(wanted.probabilities));
  EXPECT_FALSE(said.probabilities.equal(before.probabilities));
  ASSERT_EQ(said.scores.size(), wanted.scores.size());
  for (size_t c = 0; c < wanted.scores.size(); ++c) {
    EXPECT_EQ(said.scores[c].name, wanted.scores[c].name);
    EXPECT_TRUE(said.scores[c].values.equal(wanted.scores[c].values)) << wanted.scores[c].name;
  }
  ASSERT_EQ(said.decisions.size(), 3u);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(said.decisions[row].verdict, wanted.decisions[row].verdict);
    EXPECT_EQ(said.decisions[row].p_value, wanted.decisions[row].p_value);
  }
  EXPECT_EQ(said.decisions[1].verdict, Verdict::kUnfamiliar);
}

TEST(Predictor, AnswersForAnInputWhateverTheOthersAre) {
  auto model = small_model();
  const auto inputs = small_images(12, 3).inputs;
  for (const int64_t samples : {0, 5}) {
    model.dropout_samples = samples;
    model.points = small_points({{Verdict::kUndecided, samples == 0 ? "entropy" : "mutual_information"}});
    Predictor predictor(model);
    const auto together = predictor.predict(inputs);
    const auto alone = predictor.predict(inputs.narrow(0, 7, 1));
    EXPECT_TRUE(torch::allclose(alone.probabilities[0], together.probabilities[7]));
    for (size_t c = 0; c < alone.scores.size(); ++c)
      EXPECT_TRUE(torch::allclose(alone.scores[c].values[0], together.scores[c].values[7], 1e-4, 1e-6))
          << alone.scores[c].name << " " << samples;
    EXPECT_TRUE(predictor.predict(inputs).probabilities.equal(together.probabilities));
  }
}

TEST(Predictor, StandardisesRowsAndAsksEveryMember) {
  const auto model = small_table_model();
  const auto rows = torch::randn({6, 3});
  const auto said = Predictor(model).predict(rows);
  const auto prepared = (rows - model.preprocessing.scale.mean) / model.preprocessing.scale.deviation;
  torch::Tensor mean;
  for (const auto& member : model.run.members) {
    const auto probabilities = torch::softmax(member->forward(prepared).to(torch::kFloat64), 1);
    mean = mean.defined() ? mean + probabilities / 2 : probabilities / 2;
  }
  EXPECT_TRUE(torch::allclose(said.probabilities, mean));
  EXPECT_TRUE(said.decisions.empty());
  EXPECT_EQ(Predictor(model).predict(torch::empty({0, 3})).size(), 0);
  // A value beyond the range of training counts as the end of that range.
  const auto far =
      model.preprocessing.scale.mean + model.preprocessing.scale.deviation * torch::tensor({{100.0F, 0.0F, -100.0F}});
  const auto absurd =
      model.preprocessing.scale.mean + model.preprocessing.scale.deviation * torch::tensor({{1e9F, 0.0F, -1e30F}});
  EXPECT_TRUE(torch::allclose(Predictor(model).predict(absurd).logits, Predictor(model).predict(far).logits));
}

TEST(Predictor, SaysOfBatchesThatAreJoinedWhatItSaysOfAll) {
  for (auto model : {small_model(), small_table_model("dnn")}) {
    const bool images = model.preprocessing.takes_images();
    const auto inputs = images ? small_images(7, 3).inputs : torch::randn({7, 3});
    Predictor predictor(std::move(model));
    const auto whole = predictor.predict(inputs);
    const auto joined =
        Predictions::joined({predictor.predict(inputs.narrow(0, 0, 3)), predictor.predict(inputs.narrow(0, 3, 4))});
    EXPECT_TRUE(joined.prediction.equal(whole.prediction));
    EXPECT_TRUE(torch::allclose(joined.probability, whole.probability));
    EXPECT_TRUE(torch::allclose(joined.probabilities, whole.probabilities));
    EXPECT_TRUE(torch::allclose(joined.logits, whole.logits));
    ASSERT_EQ(joined.log_alpha.defined(), whole.log_alpha.defined());
    if (whole.log_alpha.defined()) {
      EXPECT_TRUE(torch::allclose(joined.log_alpha, whole.log_alpha));
    }
    for (size_t c = 0; c < whole.scores.size(); ++c)
      EXPECT_TRUE(torch::allclose(joined.scores[c].values, whole.scores[c].values)) << whole.scores[c].name;
    ASSERT_EQ(joined.decisions.size(), whole.decisions.size());
    for (size_t i = 0; i < whole.decisions.size(); ++i)
      EXPECT_EQ(joined.decisions[i].verdict, whole.decisions[i].verdict) << i;
  }
}

TEST(Predictor, LeavesLogAlphaToDirichlets) {
  EXPECT_FALSE(Predictor(small_table_model("dnn")).predict(torch::randn({2, 3})).log_alpha.defined());
}

TEST(Predictor, IsAskedByManyThreads) {
  auto model = small_model();
  model.dropout_samples = 3;
  model.points.reset();
  Predictor predictor(model);
  auto again = small_model();  // networks of its own
  again.dropout_samples = 3;
  again.points.reset();
  Predictor other(again);
  const auto inputs = small_images(10, 3).inputs;
  const auto expected = predictor.predict(inputs).probabilities;
  std::vector<std::thread> threads;
  std::vector<bool> same(4);
  std::mutex mutex;
  for (size_t t = 0; t < same.size(); ++t)
    threads.emplace_back([&, t] {
      const bool equal = (t % 2 == 0 ? predictor : other).predict(inputs).probabilities.equal(expected);
      const std::lock_guard lock(mutex);
      same[t] = equal;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<bool>(4, true));
}

TEST(Predictor, FitsImagesOnlyWhereItMay) {
  auto model = small_model();
  const auto photo = torch::randint(0, 255, {3, 20, 16}).to(torch::kUInt8);
  EXPECT_EQ(Predictor(model).fitted(photo).sizes(), torch::IntArrayRef({1, 8, 8}));
  model.preprocessing.resize = false;
  const Predictor strict(model);
  EXPECT_THROWS(DataError, strict.fitted(photo), "has 20 x 16 pixels; the model takes 8 x 8 and resizes nothing");
  EXPECT_EQ(strict.fitted(photo.narrow(1, 0, 8).narrow(2, 0, 8)).sizes(), torch::IntArrayRef({1, 8, 8}));
  EXPECT_THROWS(DataError, Predictor(small_table_model()).fitted(photo), "rows: takes rows of 3 numbers, not images");
}

TEST(Predictor, RefusesInputsOfAnotherShapeOrNotFinite) {
  Predictor images(small_model());
  EXPECT_THROWS(ArgumentError, images.predict(torch::zeros({2, 1, 8, 9}, torch::kUInt8)),
                "predict: inputs should be Byte [N, 1, 8, 8], found Byte [2, 1, 8, 9]");
  Predictor rows(small_table_model());
  EXPECT_THROWS(ArgumentError, rows.predict(torch::full({2, 3}, NAN)),
                "predict: inputs should be finite numbers, row 0 (counted from 0) is not");
  EXPECT_THROWS(ArgumentError, rows.predict(torch::tensor(1.0F)),
                "predict: inputs should be Float [N, 3], found Float []");
}

TEST(Predictor, RefusesModelsThatCannotAnswer) {
  auto model = small_table_model();
  model.points = small_points({{Verdict::kUnfamiliar, "boredom"}});
  EXPECT_THROWS(DataError, Predictor(model).predict(torch::zeros({1, 3})),
                "rows: watches boredom, which its network does not give");
}

}  // namespace
}  // namespace priornet
