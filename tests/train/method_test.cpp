#include <gtest/gtest.h>
#include <priornet/learning/method.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <cmath>

namespace priornet {
namespace {

constexpr int64_t kInside = 6;
constexpr int64_t kClasses = 4;

torch::Tensor example_logits() {
  return torch::randn({kInside + 5, kClasses}, make_generator(3), torch::kFloat64).mul_(2);
}

BatchTargets example_targets() {
  const auto teacher = torch::randn({kInside, kClasses}, make_generator(4), torch::kFloat64).softmax(1);
  return {torch::arange(kInside).remainder(kClasses), teacher};
}

LossWithGradient example_loss(const MethodOptions& options, const torch::Tensor& logits) {
  return make_method(options)->loss(logits, example_targets(), 1e9);
}

torch::Tensor numeric_gradient(const MethodOptions& options, const torch::Tensor& logits) {
  constexpr double kStep = 1e-5;
  auto gradient = torch::zeros_like(logits);
  for (int64_t i = 0; i < logits.numel(); ++i) {
    const auto total = [&](double change) {
      auto moved = logits.clone();
      moved.view(-1)[i] += change;
      return example_loss(options, moved).loss.total.item<double>();
    };
    gradient.view(-1)[i] = (total(kStep) - total(-kStep)) / (2 * kStep);
  }
  return gradient;
}

// Each setting away from its default, so that a gradient that forgets one shows.
TEST(Method, GivesTheGradientOfItsLoss) {
  for (const auto& method : methods()) {
    MethodOptions options;
    options.name = method.name;
    double value = 0.3;
    for (const auto& setting : method.settings) options.settings[setting.key] = value += 0.1;
    if (options.settings.contains("alpha0")) options.settings["alpha0"] = 50.0;
    if (options.settings.contains("epsilon")) options.settings["epsilon"] = 0.02;
    const auto logits = example_logits().slice(0, 0, method.needs_outside ? kInside + 5 : kInside);
    const auto found = example_loss(options, logits).gradient;
    EXPECT_TRUE(near(found, numeric_gradient(options, logits), 1e-6)) << method.name;
    EXPECT_GT(found.abs().max().item<double>(), 1e-3) << method.name;
  }
}

TEST(Method, HoldsItsGradientToTheSteepest) {
  for (const auto& method : methods()) {
    const auto made = make_method({method.name, {}});
    const auto logits = example_logits().slice(0, 0, method.needs_outside ? kInside + 5 : kInside);
    const auto gradient = made->loss(logits, example_targets(), 1e-3).gradient;
    EXPECT_LE(gradient.abs().max().item<double>(), 1e-3) << method.name;
  }
}

TEST(Method, HoldsAPriorNetworkToEqualProbabilitiesOutside) {
  const auto total = [&](double weight) {
    auto logits = example_logits();
    logits.slice(0, kInside).fill_(0.5);
    return example_loss({"dpn", {{"uniform_weight", weight}}}, logits).loss.total.item<double>();
  };
  EXPECT_NEAR(total(3.0) - total(0.0), 3.0 * std::log(static_cast<double>(kClasses)), 1e-10);
}

TEST(Method, HoldsNothingToEqualProbabilitiesWithoutAnOutside) {
  const auto loss = example_loss({"dpn", {{"uniform_weight", 1.0}}}, example_logits().slice(0, 0, kInside)).loss;
  EXPECT_EQ(loss.total.item<double>(), loss.in.item<double>());
}

TEST(Method, RejectsWhatMakesNoSense) {
  EXPECT_THROWS(ArgumentError, make_method({"dpn", {{"alpha0", 0.0}}}), "dpn: alpha0 should be above 0, found 0");
  EXPECT_THROWS(ArgumentError, make_method({"dpn", {{"alpha", 1.0}}}), "method: there is no setting alpha");
  EXPECT_THROW(make_method({"evidence", {}}), ArgumentError);
}

}  // namespace
}  // namespace priornet
