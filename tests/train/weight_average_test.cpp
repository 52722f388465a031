#include "learning/training/weight_average.h"

#include <gtest/gtest.h>
#include <priornet/learning/networks.h>
#include <priornet/learning/trained_run.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_runs.h>
#include <testing/throws.h>

namespace priornet {
namespace {

using Start = RunFolder::Start;

TEST(WeightAverage, IsThePlainMeanFirstAndThenTheExponentialOne) {
  auto model = small_config().model;
  model.batch_norm = true;
  model.input = {1, 8, 8};
  model.classes = 3;
  const auto network = make_model(model, make_generator(1));
  FlatParameters parameters(network->parameters());
  WeightAverage average(*network, parameters, 0.75);
  const auto wanted_after = [](int steps) {
    double mean = 0.0;
    for (int t = 1; t <= steps; ++t) mean += std::max(0.25, 1.0 / t) * (t - mean);
    return mean;
  };
  for (int step = 1; step <= 7; ++step) {
    {
      const torch::NoGradGuard no_gradient;
      parameters.values.fill_(step);
      for (auto buffer : network->buffers()) buffer.fill_(step);
    }
    average.update();
    const AveragedWeights averaged(&average);
    for (const auto& values : network->parameters())
      EXPECT_NEAR(values.mean().item<double>(), wanted_after(step), 1e-6) << step;
    for (const auto& values : network->buffers())
      if (values.is_floating_point()) {
        EXPECT_NEAR(values.mean().item<double>(), wanted_after(step), 1e-6) << step;
      }
  }
  EXPECT_EQ(network->parameters()[0].mean().item<double>(), 7.0);
  EXPECT_EQ(wanted_after(3), 2.0);
  EXPECT_THROWS(ArgumentError, WeightAverage(*network, parameters, 1.0),
                "WeightAverage: decay should be between 0 and 1, found 1");
}

TrainConfig averaging_config() {
  auto config = small_config();
  config.model.batch_norm = true;
  config.weight_average = 0.9;
  return config;
}

TEST(WeightAverage, IsWhatARunKeepsAndGivesBack) {
  const TemporaryFolder folder;
  const RunFolder plain(folder / "plain", Start::kNew);
  const RunFolder averaged(folder / "averaged", Start::kNew);
  auto config = averaging_config();
  const auto mean = trained(config, averaged);
  config.weight_average.reset();
  const auto last = trained(config, plain);
  EXPECT_FALSE(mean->parameters()[0].equal(last->parameters()[0]));
  // The average does not change training: the losses equal those of a run without it, and only validation differs.
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(metrics_of(averaged)[epoch]["loss"], metrics_of(plain)[epoch]["loss"]);
    EXPECT_NE(metrics_of(averaged)[epoch]["validation"], metrics_of(plain)[epoch]["validation"]);
  }
  const auto run = load_run(averaged.path(), torch::kCPU);
  const auto kept = run.members.front()->named_parameters();
  for (const auto& item : mean->named_parameters()) EXPECT_TRUE(kept[item.key()].equal(item.value())) << item.key();
}

TEST(WeightAverage, GoesOnAsIfNothingHadHappened) {
  const TemporaryFolder folder;
  const RunFolder whole(folder / "whole", Start::kNew);
  const auto wanted = trained(averaging_config(), whole);
  for (const int64_t stop_after : {4, 10, 17}) {
    const auto path = folder / "stopped";
    std::filesystem::remove_all(path);
    int64_t steps = 0;
    TrainerOptions options;
    options.stop = [&] { return ++steps == stop_after; };
    EXPECT_THROW(trained(averaging_config(), RunFolder(path, Start::kNew), options), TrainingStopped);
    options.stop = {};
    options.resume = true;
    const auto network = trained(averaging_config(), RunFolder(path, Start::kResume), options);
    for (size_t i = 0; i < wanted->parameters().size(); ++i)
      EXPECT_TRUE(network->parameters()[i].equal(wanted->parameters()[i])) << stop_after << " " << i;
    for (size_t i = 0; i < wanted->buffers().size(); ++i)
      EXPECT_TRUE(network->buffers()[i].equal(wanted->buffers()[i])) << stop_after << " " << i;
  }
}

}  // namespace
}  // namespace priornet
