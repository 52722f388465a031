#include <gtest/gtest.h>
#include <priornet/learning/method.h>
#include <priornet/uncertainty/random.h>
#include <torch/csrc/autograd/autograd.h>

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

TEST(Method, GivesTheGradientOfItsLoss) {
  for (const auto& [name, method] : kMethodNames) {
    MethodOptions options;
    options.method = method;
    options.alpha0 = 50.0;
    options.outside_weight = 0.3;
    options.cross_entropy_weight = 0.7;
    options.uniform_weight = 0.4;
    const auto logits = example_logits().requires_grad_();
    const auto loss = method_loss(logits, example_targets(), options);
    const auto wanted = torch::autograd::grad({loss.total}, {logits})[0];
    const auto found = method_gradient(logits.detach(), example_targets(), options, 1e9);
    EXPECT_TRUE(torch::allclose(found.gradient, wanted, 1e-10, 1e-12)) << name;
    EXPECT_NEAR(found.loss.total.item<double>(), loss.total.item<double>(), 1e-10) << name;
  }
}

TEST(Method, HoldsAPriorNetworkToEqualProbabilitiesOutside) {
  MethodOptions options;
  const auto total = [&](double weight) {
    options.uniform_weight = weight;
    auto logits = example_logits();
    logits.slice(0, kInside).fill_(0.5);
    return method_gradient(logits, example_targets(), options, 1e9).loss.total.item<double>();
  };
  EXPECT_NEAR(total(3.0) - total(0.0), 3.0 * std::log(static_cast<double>(kClasses)), 1e-10);
}

TEST(Method, HoldsNothingToEqualProbabilitiesWithoutAnOutside) {
  MethodOptions options;
  options.uniform_weight = 1.0;
  const auto inside = example_logits().slice(0, 0, kInside);
  const auto loss = method_gradient(inside, example_targets(), options, 1e9).loss;
  EXPECT_EQ(loss.total.item<double>(), loss.in.item<double>());
}

}  // namespace
}  // namespace priornet
