#include <priornet/learning/inference.h>
#include <priornet/learning/network.h>
#include <priornet/learning/odin.h>
#include <priornet/learning/scoring.h>
#include <priornet/uncertainty/errors.h>
#include <testing/silent.h>
#include <testing/throws.h>
#include <testing/trained_small_run.h>

#include <cmath>

#include "learning/networks/architectures.h"

namespace priornet {
namespace {

// Logits (2x, -2y): linear, so that everything can be done by hand.
std::shared_ptr<Classifier> linear_network() {
  auto network = std::make_shared<MLPImpl>(MLPOptions{.inputs = 2, .hidden = {}, .classes = 2}, make_generator(1));
  const torch::NoGradGuard no_gradient;
  network->parameters()[0].copy_(torch::tensor({{2.0F, 0.0F}, {0.0F, -2.0F}}));
  network->parameters()[1].zero_();
  return network;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Odin, MatchesASmallCaseDoneByHand) {
  const auto network = linear_network();
  network->train();
  const auto inputs = torch::tensor({{0.5F, 0.25F}, {-1.0F, -0.75F}});
  // The margin of class 0 over class 1 is 2x + 2y: 1.5 and -3.5, so the classes are 0 and 1. ln S grows with the margin
  // of the class that won: a step adds 0.1 to both inputs of the first row and takes it off both of the second.
  const auto score = odin_score({network}, inputs, {.temperature = 10, .step = 0.1});
  EXPECT_NEAR(score[0].item<double>(), sigmoid((1.5 + 0.4) / 10), 1e-7);
  EXPECT_NEAR(score[1].item<double>(), sigmoid((3.5 + 0.4) / 10), 1e-7);
  const auto plain = odin_score({network}, inputs, {.temperature = 1, .step = 0});
  EXPECT_NEAR(plain[0].item<double>(), sigmoid(1.5), 1e-7);
  EXPECT_TRUE(network->is_training());
  EXPECT_FALSE(network->parameters()[0].grad().defined());
}

TEST(Odin, OfAnEnsembleTakesTheMeanOfItsProbabilities) {
  const auto network = linear_network();
  const auto other = linear_network();
  {
    const torch::NoGradGuard no_gradient;
    other->parameters()[0].mul_(3);
  }
  const auto inputs = torch::tensor({{0.5F, 0.25F}});
  const auto score = odin_score({network, other}, inputs, {.temperature = 2, .step = 0.1});
  EXPECT_NEAR(score[0].item<double>(), (sigmoid(1.9 / 2) + sigmoid(3 * 1.9 / 2)) / 2, 1e-7);
}

TEST(Odin, ChoosesWhatTellsValidationInputsApart) {
  auto run = load_small_run("dnn");
  const auto inside = network_inputs(small_images(200, 4).inputs, 0, torch::kCPU, {});
  const auto outside = odin_outside(run, small_images(200, 5), {}, 150, silent);
  EXPECT_EQ(outside.name, "uniform-noise");
  ASSERT_EQ(outside.size(), 150);
  const auto choice = choose_odin(run.members, inside, network_inputs(outside.inputs, 0, torch::kCPU, {}), 64, silent);
  const auto plain = odin_score(run.members, inside, {.temperature = 1, .step = 0});
  EXPECT_GT(choice.auroc, 0.5);
  EXPECT_GE(choice.fpr95, 0);
  ScoringOptions options;
  options.odin = choice.settings;
  const auto set = small_images(200, 4);
  const auto scores = score(run, set, options, silent);
  EXPECT_TRUE(scores.find("odin")->equal(odin_score(run.members, inside, choice.settings)));
  EXPECT_EQ(scores.columns.back().name, "odin");
}

TEST(Odin, NeverChoosesOnASetThatIsTested) {
  auto run = load_small_run();
  run.config.outside.source = "fashion-mnist:test";
  EXPECT_EQ(odin_outside(run, small_images(40, 5), {"fashion-mnist:test,invert"}, 10, silent).name, "uniform-noise");
  run.config.outside.source = kFactorAnalysis;
  run.config.outside.settings["latent"] = 5;
  const auto made = odin_outside(run, small_images(80, 5), {"mnist"}, 130, silent);
  EXPECT_EQ(made.name, "factor-analysis of small");
  EXPECT_EQ(made.inputs.sizes(), (std::vector<int64_t>{130, 1, 8, 8}));
}

TEST(Odin, DrawsRowsOfNumbersFromTheBoxOfTheTrainingRows) {
  TrainedRun run;
  run.members = {linear_network()};
  const Dataset train{"rows", torch::tensor({{0.0F, 5.0F}, {1.0F, 6.0F}}), {}, {}, {}};
  const auto made = odin_outside(run, train, {}, 100, silent);
  EXPECT_GE(made.inputs.select(1, 1).min().item<float>(), 5.0F);
  EXPECT_LE(made.inputs.select(1, 0).max().item<float>(), 1.0F);
  EXPECT_GT(made.inputs.select(1, 0).max().item<float>(), 0.9F);
}

TEST(Odin, RefusesSettingsOutOfRange) {
  const auto network = linear_network();
  EXPECT_THROWS(ArgumentError, odin_score({network}, torch::zeros({1, 2}), {.temperature = 0, .step = 0}),
                "odin_score: temperature should be above 0, found 0");
  EXPECT_THROWS(ArgumentError, odin_score({network}, torch::zeros({1, 2}), {.temperature = 1, .step = -1}),
                "odin_score: step should be at least 0, found -1");
}

}  // namespace
}  // namespace priornet
