#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_runs.h>
#include <testing/throws.h>
#include "learning/training/checkpoint.h"

namespace priornet {
namespace {

using Start = RunFolder::Start;

void expect_same_weights(const Classifier& a, const Classifier& b) {
  const auto ours = a.named_parameters();
  for (const auto& item : b.named_parameters()) EXPECT_TRUE(ours[item.key()].equal(item.value())) << item.key();
}

TEST(Trainer, LearnsWithEveryMethod) {
  for (const auto& method : methods()) {
    SCOPED_TRACE(method.name);
    const TemporaryFolder folder;
    const RunFolder run(folder / "run", Start::kNew);
    trained(small_config(method.name), run);
    const auto metrics = metrics_of(run);
    ASSERT_EQ(metrics.size(), 3u);
    EXPECT_LT(metrics[2]["loss"], metrics[0]["loss"]);
    EXPECT_LT(metrics[2]["validation"]["error"], 0.1) << metrics[2];
    EXPECT_EQ(metrics[2]["validation"].contains("outside"), method.needs_outside);
  }
}

// A target of 1 instead of the prior would hold wrong classes near 1, ten times what they have without evidence.
TEST(Trainer, LeavesWrongClassesThePriorOfTheNetwork) {
  auto config = small_config("evidential");
  config.model.prior = 0.1;
  config.method.settings["variance_weight"] = 0.0;
  config.epochs = 8;
  const TemporaryFolder folder;
  const auto network = trained(config, RunFolder(folder / "run", Start::kNew));
  network->eval();
  const torch::NoGradGuard no_gradient;
  const auto images = small_images(90, 2);
  const auto alpha = network->forward(to_unit_range(images.inputs)).exp();
  const auto wrong = alpha.scatter(1, images.labels.unsqueeze(1), 0.0).sum(1) / 2.0;
  EXPECT_LT(wrong.median().item<double>(), 0.3);
}

// A posterior network that never saw noise has less evidence for it than for what it learnt.
TEST(Trainer, LearnsADensityPerClass) {
  auto config = small_config("posterior");
  config.model.density = 4;
  config.model.density_rows = 100;
  config.model.prior = 1.0;
  config.model.batch_norm = true;
  config.epochs = 8;
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  const auto network = trained(config, run);
  EXPECT_LT(metrics_of(run).back()["validation"]["error"], 0.1);
  network->eval();
  const torch::NoGradGuard no_gradient;
  const auto evidence = [&](const torch::Tensor& inputs) {
    return torch::logsumexp(network->forward(inputs), 1).median().item<double>();
  };
  const auto bars = to_unit_range(small_images(90, 2).inputs);
  const auto noise = torch::rand({90, 1, 8, 8}, make_generator(4)).mul(2).sub(1);
  EXPECT_GT(evidence(bars), evidence(noise) + 1.0) << "in ln alpha0, at least ln 3";
}

TEST(Trainer, TellsNoiseFromDataOnceTrained) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  auto config = small_config();
  config.epochs = 6;
  trained(config, run);
  const auto last = metrics_of(run).back()["validation"];
  EXPECT_GT(last["outside"]["differential_entropy"], last["inside"]["differential_entropy"]) << last;
}

TEST(Trainer, GivesTheSameNetworkForTheSameSeed) {
  const TemporaryFolder folder;
  const RunFolder first(folder / "first", Start::kNew);
  const RunFolder second(folder / "second", Start::kNew);
  const RunFolder other(folder / "other", Start::kNew);
  auto config = small_config();
  config.epochs = 1;
  const auto a = trained(config, first);
  const auto b = trained(config, second);
  expect_same_weights(*a, *b);
  config.seed = 2;
  EXPECT_FALSE(trained(config, other)->parameters()[0].equal(a->parameters()[0]));
}

TEST(Trainer, GoesOnAsIfNothingHadHappened) {
  const TemporaryFolder folder;
  const RunFolder whole(folder / "whole", Start::kNew);
  const auto wanted = trained(small_config(), whole);
  for (const int64_t stop_after : {1, 9, 10, 17, 29}) {
    const auto path = folder / "stopped";
    std::filesystem::remove_all(path);
    const RunFolder run(path, Start::kNew);
    int64_t steps = 0;
    TrainerOptions options;
    options.stop = [&] { return ++steps == stop_after; };
    EXPECT_THROW(trained(small_config(), run, options), TrainingStopped);
    options.stop = {};
    options.resume = true;
    expect_same_weights(*trained(small_config(), RunFolder(path, Start::kResume), options), *wanted);
    EXPECT_EQ(metrics_of(run), metrics_of(whole)) << stop_after;
  }
}

TEST(Trainer, KeepsTheLastCheckpointsAndTheBest) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  auto config = small_config();
  config.keep_checkpoints = 2;
  trained(config, run);
  EXPECT_EQ(run.steps(), (std::vector<int64_t>{20, 30}));
  EXPECT_TRUE(std::filesystem::exists(run.best()));
  EXPECT_EQ(weights_of_run(run.path()), run.checkpoint(30));
  EXPECT_EQ(weights_of_run(run.path(), WhichCheckpoint::kBest), run.best());
  std::filesystem::remove(run.best());
  EXPECT_THROWS(DataError, weights_of_run(run.path(), WhichCheckpoint::kBest),
                (run.path().string() + ": holds no best checkpoint: it was trained without a validation set").c_str());
}

TEST(Trainer, LeavesTheBestAlsoWhereItEndedWhileItWroteIt) {
  const TemporaryFolder folder;
  const RunFolder whole(folder / "whole", Start::kNew);
  const RunFolder run(folder / "run", Start::kNew);
  auto config = small_config();
  config.epochs = 1;
  trained(config, whole);
  std::filesystem::create_directories(run.best() / "in the way");
  EXPECT_THROW(trained(config, run), DataError);
  std::filesystem::remove_all(run.best());
  TrainerOptions options;
  options.resume = true;
  trained(config, run, options);
  EXPECT_TRUE(bytes_of(run.best()) == bytes_of(whole.best()));
}

TEST(Trainer, WritesACheckpointEverySoManyEpochs) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  auto config = small_config();
  config.epochs = 5;
  config.checkpoint_every = 2;
  config.keep_checkpoints = 9;
  trained(config, run);
  EXPECT_EQ(run.steps(), (std::vector<int64_t>{20, 40, 50})) << "the last epoch has one in any case";
}

TEST(Trainer, SetsADamagedCheckpointAsideAndGoesOnFromTheOneBefore) {
  const TemporaryFolder folder;
  const RunFolder whole(folder / "whole", Start::kNew);
  const auto wanted = trained(small_config(), whole);
  const auto path = folder / "run";
  std::filesystem::copy(whole.path(), path, std::filesystem::copy_options::recursive);
  const RunFolder run(path, Start::kResume);
  auto config = small_config();
  ASSERT_GE(run.steps().size(), 2u);
  const auto newest = run.checkpoint(run.steps().back());
  const auto before = run.checkpoint(run.steps()[run.steps().size() - 2]);
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 100);
  TrainerOptions options;
  options.resume = true;
  std::vector<std::string> said;
  options.on_damaged = [&](const std::string& what) { said.push_back(what); };
  expect_same_weights(*trained(config, run, options), *wanted);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with(newest.string() + ": is truncated")) << said[0];
  EXPECT_TRUE(said[0].ends_with("it is set aside as " + newest.filename().string() +
                                ".damaged, and the run goes on from " + before.filename().string()))
      << said[0];
  EXPECT_TRUE(std::filesystem::exists(newest.string() + ".damaged"));
  EXPECT_EQ(metrics_of(run), metrics_of(whole));

  for (const auto step : run.steps()) std::filesystem::resize_file(run.checkpoint(step), 100);
  const auto steps = run.steps();
  try {
    trained(config, run, options);
    ADD_FAILURE() << "it went on from nothing";
  } catch (const DataError& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("; no checkpoint of the run is intact: --force starts it again"))
        << error.what();
  }
  EXPECT_EQ(run.steps(), steps) << "nothing was renamed";
}

TEST(Trainer, RefusesAFolderThatHoldsARun) {
  const TemporaryFolder folder;
  auto config = small_config();
  config.epochs = 1;
  trained(config, RunFolder(folder / "run", Start::kNew));
  EXPECT_THROWS(
      DataError, RunFolder(folder / "run", Start::kNew),
      ((folder / "run").string() + ": already holds a run: --resume goes on with it, --force removes it").c_str());
  const RunFolder replacement(folder / "run", Start::kForce);
  EXPECT_FALSE(replacement.steps().empty()) << "nothing is removed before it begins";
  replacement.begin();
  EXPECT_TRUE(replacement.steps().empty());
}

TEST(Trainer, RefusesAFolderInWhichAnotherTrains) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  auto config = small_config();
  config.epochs = 1;
  {
    const RunLock another(run);
    EXPECT_THROWS(DataError, trained(config, run),
                  ((folder / "run").string() + ": another process is training in it").c_str());
  }
  trained(config, run);
  trained(config, run);
}

TEST(Trainer, RefusesACheckpointOfAnotherConfiguration) {
  const TemporaryFolder folder;
  auto config = small_config();
  config.epochs = 1;
  const RunFolder run(folder / "run", Start::kNew);
  trained(config, run);
  config.batch = 16;
  TrainerOptions options;
  options.resume = true;
  const auto before = bytes_of(run.checkpoint(10));
  EXPECT_THROW(trained(config, run, options), DataError);
  EXPECT_EQ(bytes_of(run.checkpoint(10)), before);
}

TEST(Trainer, NamesStepRowsAndCheckpointOfALossThatIsNotFinite) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  try {
    trained(diverging_config(), run);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("the loss is not finite at step ")) << text;
    EXPECT_NE(text.find("there is no checkpoint yet"), std::string::npos) << text;
  }
}

// The first step is so large that exp(logits) overflows float32: the gradient is clipped and stays finite.
TEST(Trainer, SurvivesLogitsBeyondTheRangeOfExp) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  auto config = small_config();
  config.noise = 30;
  config.epochs = 2;
  config.schedule.rate = 0.5;
  trained(config, run);
  EXPECT_TRUE(std::isfinite(metrics_of(run).back()["loss"].get<double>()));
}

TEST(Trainer, RefusesSetsItCannotLearnFrom) {
  const TemporaryFolder folder;
  NoProgress progress;
  const RunFolder run(folder / "run", Start::kNew);
  auto sets = small_sets();
  sets.train.labels = torch::Tensor();
  EXPECT_THROWS(DataError, train(small_config("dnn"), sets, run, {}, progress), "small: has no labels to learn from");
}

}  // namespace
}  // namespace priornet
