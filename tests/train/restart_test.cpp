#include <gtest/gtest.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_runs.h>
#include <testing/throws.h>

namespace priornet {
namespace {

using Start = RunFolder::Start;

TrainConfig config_with(int64_t restarts) {
  auto config = small_config();
  config.restarts = restarts;
  return config;
}

// Validation labels that make every answer of a trained network wrong.
TrainingSets sets_with_false_labels() {
  auto sets = small_sets();
  sets.validation->labels = (sets.validation->labels + 1) % 3;
  return sets;
}

TEST(Restart, BeginsAgainFromAnotherSeedWhereTheErrorIsThatOfChance) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  const RunFolder plain(folder / "plain", Start::kNew);
  auto sets = sets_with_false_labels();
  const auto true_labels = small_sets().validation->labels;
  std::vector<Restart> heard;
  TrainerOptions options;
  options.on_restart = [&](const Restart& restart) {
    heard.push_back(restart);
    if (heard.size() == 2) sets.validation->labels.copy_(true_labels);  // from now on the validation labels are right
  };
  NoProgress progress;
  const auto network = train(config_with(5), sets, run, options, progress);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[1].number, 2);
  EXPECT_GE(heard[0].error, heard[0].chance);
  EXPECT_NEAR(heard[0].chance, 2.0 / 3.0, 0.1);
  const auto metrics = metrics_of(run);
  ASSERT_EQ(metrics.size(), 3u);  // the metrics of discarded networks are gone
  for (const auto& epoch : metrics) EXPECT_EQ(epoch["restart"], 2);
  EXPECT_LT(metrics[2]["validation"]["error"], 0.2);
  EXPECT_FALSE(trained(small_config(), plain)->parameters()[0].equal(network->parameters()[0]));
  EXPECT_FALSE(metrics_of(plain)[0].contains("restart"));
}

TEST(Restart, KeepsTheNetworkWhenNoneIsLeft) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  int heard = 0;
  TrainerOptions options;
  options.on_restart = [&](const Restart& restart) {
    ++heard;
    EXPECT_NE(to_text(restart).find("after epoch"), std::string::npos);
  };
  NoProgress progress;
  train(config_with(1), sets_with_false_labels(), run, options, progress);
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(metrics_of(run).size(), 3u);
}

TEST(Restart, IsTheSameWhenStoppedAndResumed) {
  const TemporaryFolder folder;
  const RunFolder whole(folder / "whole", Start::kNew);
  NoProgress progress;
  const auto wanted = train(config_with(1), sets_with_false_labels(), whole, {}, progress);
  const auto path = folder / "stopped";
  int64_t steps = 0;
  bool again = false;
  TrainerOptions options;
  options.on_restart = [&](const Restart&) { again = true; };
  options.stop = [&] { return again && ++steps == 15; };
  EXPECT_THROW(train(config_with(1), sets_with_false_labels(), RunFolder(path, Start::kNew), options, progress),
               TrainingStopped);
  again = false;
  options.stop = {};
  options.resume = true;
  const auto network =
      train(config_with(1), sets_with_false_labels(), RunFolder(path, Start::kResume), options, progress);
  EXPECT_FALSE(again);
  for (size_t i = 0; i < wanted->parameters().size(); ++i)
    EXPECT_TRUE(network->parameters()[i].equal(wanted->parameters()[i])) << i;
  EXPECT_EQ(metrics_of(RunFolder(path, Start::kResume)), metrics_of(whole));
}

TEST(Restart, NeedsAValidationSet) {
  EXPECT_THROWS(
      ConfigError, read_config(TomlText{"config.toml", "[data]\ntrain = \"a\"\n[training]\nrestarts = 1\n"}),
      "config.toml: training.restarts needs the validation error: give data.validation or data.validation_share");
}

}  // namespace
}  // namespace priornet
