#include <priornet/learning/classifier.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_runs.h>
#include <testing/throws.h>

#include <algorithm>

// When a run ends, how a run goes on that had ended or whose data were moved, and the weight of rare classes.

namespace priornet {
namespace {

using Start = RunFolder::Start;

double nll_of(const nlohmann::json& epoch) { return epoch["validation"]["nll"]; }

// The validation labels are wrong, so validation gets worse as the network learns.
TrainingSets sets_that_mislead() {
  auto sets = small_sets();
  sets.validation->labels = sets.validation->labels.roll(1);
  return sets;
}

TEST(Patience, EndsARunAndKeepsTheNetworkOfTheBestEpoch) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  auto config = small_config();
  config.epochs = 30;
  config.patience = 2;
  int64_t kept = 0;
  TrainerOptions options;
  options.on_patience = [&](int64_t epoch) { kept = epoch; };
  NoProgress progress;
  const auto sets = sets_that_mislead();
  const auto network = train(config, sets, run, options, progress);
  const auto metrics = metrics_of(run);
  ASSERT_LT(metrics.size(), 30u);
  ASSERT_EQ(metrics.size(), static_cast<size_t>(kept + 2));
  const auto best =
      std::min_element(metrics.begin(), metrics.end(), [](auto& a, auto& b) { return nll_of(a) < nll_of(b); });
  EXPECT_EQ((*best)["epoch"], kept);
  const auto& method = method_info(config.method.name);
  network->eval();
  EXPECT_NEAR(validate(*network, *sets.validation, {}, method, {}).negative_log_likelihood, nll_of(*best), 1e-6);
  // Resuming gives that network too, and trains no further.
  options.resume = true;
  const auto again = train(config, sets, RunFolder(run.path(), Start::kResume), options, progress);
  EXPECT_TRUE(again->parameters()[0].equal(network->parameters()[0]));
  EXPECT_EQ(metrics_of(run), metrics);
}

TEST(Patience, NeedsSomethingToWatchAndOneNetworkToKeep) {
  {
    const TemporaryFolder folder;
    auto contradictory = small_config();
    contradictory.patience = 2;
    contradictory.weight_average = 0.9;
    NoProgress progress;
    EXPECT_THROWS(ConfigError, train(contradictory, small_sets(), RunFolder(folder / "run", Start::kNew), {}, progress),
                  "training.patience keeps the weights of one epoch, training.weight_average those of many: give only "
                  "one of them");
  }
  const auto config = [](const char* more) {
    return TomlText{"", std::string("[data]\ntrain = 'mnist'\n") + more + "\n[training]\npatience = 3"};
  };
  EXPECT_THROWS(ConfigError, read_config(config("")),
                "training.patience needs the validation NLL: give data.validation or data.validation_share");
  EXPECT_EQ(read_config(config("validation_share = 0.1")).patience, 3);
  EXPECT_THROWS(
      ConfigError, read_config(config("validation_share = 0.1"), {"training.weight_average=0.9"}),
      "training.patience keeps the weights of one epoch, training.weight_average those of many: give only one of them");
}

TEST(GoingOn, TakesMoreEpochsThanTheRunWasBegunWith) {
  const TemporaryFolder folder;
  auto config = small_config();
  config.epochs = 1;
  trained(config, RunFolder(folder / "run", Start::kNew));
  const RunFolder longer(folder / "run", Start::kResume);
  const auto before = metrics_of(longer);
  TrainerOptions options;
  options.resume = true;
  config.epochs = 3;
  trained(config, longer, options);
  const auto metrics = metrics_of(longer);
  ASSERT_EQ(metrics.size(), 3u);
  EXPECT_EQ(metrics[0], before[0]);
  EXPECT_EQ(metrics[2]["epoch"], 3);
  EXPECT_EQ(read_config(longer.config()).epochs, 3);
  config.batch = 16;
  EXPECT_THROW(trained(config, longer, options), DataError) << "but nothing else";
}

std::string pets_text(int rows) {
  std::string text = "height,weight,kind\n";
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i % 7) + "," + std::to_string(i % 11) + (i % 2 == 0 ? ",cat\n" : ",dog\n");
  return text;
}

TEST(GoingOn, KnowsDataThatWereMovedByTheirContent) {
  const TemporaryFolder folder;
  const auto path = folder / "run";
  NoProgress progress;
  const auto first = folder.file("t.csv", pets_text(60)).string() + ",label=kind";
  auto config = config_for(first, load_set(first));
  config.epochs = 1;
  const auto go = [&](Start start) {
    const auto sets = load_training_sets(config, progress);
    EnsembleOptions options;
    options.start = start;
    options.trainer.resume = start == Start::kResume;
    train_run(config, sets, path, options, progress);
  };
  go(Start::kNew);
  std::filesystem::rename(folder / "t.csv", folder / "moved.csv");
  const auto moved = (folder / "moved.csv").string() + ",label=kind";
  config.train = moved;
  config.epochs = 2;
  go(Start::kResume);
  EXPECT_EQ(metrics_of(RunFolder(path, Start::kResume)).size(), 2u);
  EXPECT_EQ(read_config(path / "config.toml").train, moved);
  config.train = folder.file("other.csv", pets_text(61)).string() + ",label=kind";
  EXPECT_THROWS(
      DataError, go(Start::kResume),
      (config.train + ": its rows have changed since " + path.string() + " began; --force starts again").c_str());
  std::filesystem::remove(path / "preparation.safetensors");
  EXPECT_THROWS(DataError, go(Start::kResume),
                (path.string() + ": began with " + moved + ", and nobody can check whether " + config.train +
                 " holds the same rows")
                    .c_str());
}

// Two classes that overlap; every twentieth row is of the second.
TEST(Balance, GivesRareClassesTheWeightOfTheOthers) {
  const auto generator = make_generator(1);
  const auto labels = torch::arange(800).remainder(20).eq(0).to(torch::kInt64);
  const auto inputs = torch::randn({800, 2}, generator) + labels.unsqueeze(1).to(torch::kFloat32);
  const TrainingSets sets{{"rows", inputs, labels, {"common", "rare"}, {}}, {}, {}};
  auto config = small_config("dnn");
  config.model = {};
  config.model.name = "mlp";
  config.model.dense = {{8}};
  config.augmentation = {};
  config.epochs = 20;
  const auto share_called_rare = [&](std::optional<double> balance) {
    const TemporaryFolder folder;
    config.balance = balance;
    NoProgress progress;
    const auto network = train(config, sets, RunFolder(folder / "run", Start::kNew), {}, progress);
    network->eval();
    return infer(*network, inputs).argmax(1).to(torch::kFloat64).mean().item<double>();
  };
  EXPECT_LT(share_called_rare({}), 0.1);
  EXPECT_GT(share_called_rare(1.0), 0.15);
  EXPECT_EQ(share_called_rare(0.0), share_called_rare({}));
}

}  // namespace
}  // namespace priornet
