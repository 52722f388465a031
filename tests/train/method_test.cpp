#include <gtest/gtest.h>
#include <priornet/learning/method.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>

#include "learning/training/training_step.h"

namespace priornet {
namespace {

constexpr int64_t kInside = 6;
constexpr int64_t kClasses = 4;

torch::Tensor example_logits() {
  return torch::randn({kInside + 5, kClasses}, make_generator(3), torch::kFloat64).mul_(2);
}

BatchTargets example_targets() { return {torch::arange(kInside).remainder(kClasses), {}}; }

/// What a teacher says about all rows.
torch::Tensor example_teacher() {
  return torch::randn({kInside + 5, kClasses}, make_generator(4), torch::kFloat64).softmax(1);
}

BatchTargets targets_for(const MethodOptions& options, bool taught) {
  auto targets = example_targets();
  if (taught || method_info(options.name).needs_teacher) targets.teacher = example_teacher();
  return targets;
}

LossWithGradient example_loss(const MethodOptions& options, const torch::Tensor& logits, bool taught = false,
                              double prior = 1.0) {
  auto targets = targets_for(options, taught);
  targets.prior = prior;
  return make_method(options)->loss(logits, targets, 1e9);
}

torch::Tensor numeric_gradient(const MethodOptions& options, const torch::Tensor& logits, bool taught,
                               double prior = 1.0) {
  constexpr double kStep = 1e-5;
  auto gradient = torch::zeros_like(logits);
  for (int64_t i = 0; i < logits.numel(); ++i) {
    const auto total = [&](double change) {
      auto moved = logits.clone();
      moved.view(-1)[i] += change;
      return example_loss(options, moved, taught, prior).loss.total.item<double>();
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
    for (const bool taught : {false, true}) {
      const auto found = example_loss(options, logits, taught).gradient;
      EXPECT_TRUE(near(found, numeric_gradient(options, logits, taught), 1e-6)) << method.name << " " << taught;
      EXPECT_GT(found.abs().max().item<double>(), 1e-3) << method.name;
    }
  }
}

TEST(Method, HoldsItsGradientToTheSteepest) {
  for (const auto& method : methods()) {
    const auto made = make_method({method.name, {}});
    const auto logits = example_logits().slice(0, 0, method.needs_outside ? kInside + 5 : kInside);
    const auto gradient = made->loss(logits, targets_for({method.name, {}}, false), 1e-3).gradient;
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

// A network that agrees with the teacher has the smallest cross-entropy: then only the divergences have a gradient.
TEST(Method, HoldsCrossEntropiesToTheTeacher) {
  const auto agreeing = example_teacher().log();
  EXPECT_LT(example_loss({"dnn", {}}, agreeing.slice(0, 0, kInside), true).gradient.abs().max().item<double>(), 1e-12);
  EXPECT_LT(example_loss({"outlier-exposure", {}}, agreeing, true).gradient.abs().max().item<double>(), 1e-12);
  for (const auto* name : {"dpn", "dpn-reverse"}) {
    const MethodOptions both{name, {{"cross_entropy_weight", 1.0}, {"uniform_weight", 0.5}}};
    const auto divergences = example_loss({name, {}}, agreeing, true).gradient;
    EXPECT_TRUE(near(example_loss(both, agreeing, true).gradient, divergences, 1e-10)) << name;
    EXPECT_FALSE(near(example_loss(both, agreeing, false).gradient, divergences, 1e-3)) << name;
  }
}

// Dir(2, 1, 1, 1), where the first class is the label: errors of 0.6 and three times 0.2, variances divided by 6, and
// no misleading evidence.
TEST(Method, CountsWhatEvidenceIsExpectedToMiss) {
  const auto logits = torch::tensor({{2.0, 1.0, 1.0, 1.0}}, torch::kFloat64).log();
  const BatchTargets targets{torch::zeros({1}, torch::kInt64), {}};
  const auto loss = make_method({"evidential", {}})->loss(logits, targets, 1e9).loss;
  EXPECT_NEAR(loss.total.item<double>(), 0.36 + 3 * 0.04 + (0.24 + 3 * 0.16) / 6, 1e-12);
  EXPECT_NEAR(loss.in.item<double>(), 0.0, 1e-12);
  const auto relaxed = make_method({"evidential", {{"variance_weight", 0.0}}})->loss(logits, targets, 1e9).loss;
  EXPECT_NEAR(relaxed.total.item<double>(), 0.48, 1e-12);
}

// Evidence for the label costs nothing; evidence for another class does.
TEST(Method, HoldsOnlyMisleadingEvidenceToAFlatDirichlet) {
  const auto loss = [](double label, double other) {
    const auto logits = torch::tensor({{label, other, 1.0}}, torch::kFloat64).log();
    return make_method({"evidential", {}})->loss(logits, {torch::zeros({1}, torch::kInt64), {}}, 1e9).loss;
  };
  EXPECT_NEAR(loss(50.0, 1.0).in.item<double>(), 0.0, 1e-12);
  // KL[Dir(1, 5, 1) || Dir(1, 1, 1)] = ln(Gamma(7) / (Gamma(5) Gamma(3))) + 4 (psi(5) - psi(7)).
  const auto wanted = std::log(720.0 / (24.0 * 2.0)) - 4 * (1.0 / 5 + 1.0 / 6);
  EXPECT_NEAR(loss(50.0, 5.0).in.item<double>(), wanted, 1e-10);
}

/// KL[Dir(alpha) || Dir(prior, ..., prior)] as textbooks have it.
double divergence_from_prior(const std::vector<double>& alpha, double prior) {
  const auto count = static_cast<double>(alpha.size());
  double sum = 0;
  for (const double a : alpha) sum += a;
  double result = std::lgamma(sum) - std::lgamma(count * prior) + count * std::lgamma(prior);
  for (const double a : alpha)
    result += (a - prior) * (boost::math::digamma(a) - boost::math::digamma(sum)) - std::lgamma(a);
  return result;
}

// R-EDL (Chen et al., 2024): without evidence a class has the prior, on the label too, and Dir(prior) is the target. By
// SciPy the divergence is 0.0023149 here. With 1 instead of the prior it would be 52, and more evidence for wrong
// classes would make it smaller.
TEST(Method, HoldsMisleadingEvidenceToThePrior) {
  constexpr double kPrior = 0.1;
  constexpr int64_t kMany = 10;
  auto logits = torch::full({1, kMany}, kPrior + std::exp(-6.0), torch::kFloat64);
  logits[0][0] = kPrior + 100;
  logits.log_();
  const auto found = make_method({"evidential", {{"divergence_weight", 0.1}, {"variance_weight", 0.0}}})
                         ->loss(logits, {torch::zeros({1}, torch::kInt64), {}, kPrior}, 1e9);
  std::vector<double> alpha(kMany, kPrior + std::exp(-6.0));
  alpha[0] = kPrior;
  EXPECT_NEAR(found.loss.in.item<double>(), divergence_from_prior(alpha, kPrior), 1e-12);
  EXPECT_NEAR(found.loss.in.item<double>(), 0.002314916975830472, 1e-12);
  EXPECT_NEAR(found.loss.total.item<double>(), 0.00032410547271556785, 1e-12);
  EXPECT_GT(found.gradient.slice(1, 1).min().item<double>(), 0.0) << found.gradient;
}

TEST(Method, GivesTheGradientOfItsLossForEveryPrior) {
  const MethodOptions options{"evidential", {{"divergence_weight", 0.7}, {"variance_weight", 0.3}}};
  for (const double prior : {0.1, 0.8, 3.0}) {
    const auto logits = (example_logits().slice(0, 0, kInside).exp() + prior).log();
    const auto found = example_loss(options, logits, false, prior).gradient;
    EXPECT_TRUE(near(found, numeric_gradient(options, logits, false, prior), 1e-6)) << prior;
  }
  EXPECT_THROWS(ArgumentError, example_loss(options, example_logits().slice(0, 0, kInside), false, 0.0),
                "evidential: prior should be positive and finite, found 0");
}

// With the prior 1 the target is flat, as for the outside of a Prior Network.
TEST(Method, HoldsMisleadingEvidenceToAFlatDirichletIfThePriorIsOne) {
  const auto logits = (example_logits().slice(0, 0, kInside).exp() + 1).log();
  const auto misleading = logits.scatter(1, example_targets().labels.unsqueeze(1), 0.0);
  const auto wanted = reverse_kl(misleading, DirichletTarget::flat()).mean();
  EXPECT_TRUE(near(example_loss({"evidential", {}}, logits).loss.in, wanted, 1e-13));
}

TEST(Method, HasNoLossWithoutRowsInDistribution) {
  for (const auto& method : methods()) {
    if (method.needs_outside) continue;
    const BatchTargets none{torch::zeros({0}, torch::kInt64), {}};
    const auto found = make_method({method.name, {}})->loss(torch::zeros({0, 3}), none, 1e9);
    EXPECT_EQ(found.loss.total.item<float>(), 0.0F) << method.name;
    EXPECT_EQ(found.gradient.size(0), 0) << method.name;
  }
}

// Of Dir(2, 1, 1, 1) with the label first: psi(5) - psi(2) = 1/2 + 1/3 + 1/4, and KL[Dir(2, 1, 1, 1) || Dir(1)] =
// ln 4 + psi(2) - psi(5).
TEST(Method, ExpectsTheCrossEntropyOfAPosterior) {
  const auto logits = torch::tensor({{2.0, 1.0, 1.0, 1.0}}, torch::kFloat64).log();
  const BatchTargets targets{torch::zeros({1}, torch::kInt64), {}};
  const auto total = [&](double weight) {
    return make_method({"posterior", {{"entropy_weight", weight}}})
        ->loss(logits, targets, 1e9)
        .loss.total.item<double>();
  };
  constexpr double kExpected = 13.0 / 12.0;
  EXPECT_NEAR(total(0.0), kExpected, 1e-12);
  EXPECT_NEAR(total(2.0), kExpected + 2 * (std::log(4.0) - kExpected), 1e-10);
}

// Evidence can be almost 0 for an input far away, and huge for an input that the network knows.
TEST(Method, StaysFiniteForEveryPosterior) {
  const auto logits = torch::tensor({{0.0, 0.0}, {300.0, -300.0}, {-80.0, 80.0}});
  const auto found = make_method({"posterior", {}})->loss(logits, {torch::zeros({3}, torch::kInt64), {}}, 10.0);
  EXPECT_TRUE(found.loss.total.isfinite().item<bool>()) << found.loss.total;
  EXPECT_TRUE(found.gradient.isfinite().all().item<bool>()) << found.gradient;
  const auto tiny =
      make_method({"posterior", {}})->loss(torch::full({1, 3}, -400.0), {torch::zeros({1}, torch::kInt64), {}}, 10.0);
  EXPECT_TRUE(tiny.loss.total.isfinite().item<bool>()) << tiny.loss.total;
  EXPECT_TRUE(tiny.gradient.isfinite().all().item<bool>()) << tiny.gradient;
}

TEST(Method, HasNoCrossEntropyOfATeacherWithoutRows) {
  const BatchTargets none{torch::zeros({0}, torch::kInt64), torch::full({2, 3}, 1.0 / 3)};
  for (const auto* name : {"outlier-exposure", "dpn-reverse"}) {
    const auto found = make_method({name, {}})->loss(torch::zeros({2, 3}), none, 1e9);
    EXPECT_TRUE(found.loss.total.isfinite().item<bool>()) << name;
    EXPECT_EQ(found.loss.cross_entropy.item<float>(), 0.0F) << name;
  }
}

TEST(Method, RejectsWhatMakesNoSense) {
  EXPECT_THROWS(ArgumentError, make_method({"dpn", {{"alpha0", 0.0}}}), "dpn: alpha0 should be above 0, found 0");
  EXPECT_THROWS(ArgumentError, make_method({"dpn", {{"alpha", 1.0}}}), "method: there is no setting alpha");
  EXPECT_THROW(make_method({"evidence", {}}), ArgumentError);
}

// Rows far from their targets. A step against the gradient must not make the largest logit larger; by the forward
// divergence and by cross-entropies it must not make the row as a whole larger.
TEST(WithinReach, KeepsGradientsThatPointDownhill) {
  const auto wild = torch::tensor({60., 52., 55., 48., 50., 47., 53., 56., 49., 51.}, torch::kFloat64).view({1, 10});
  const auto logits = torch::cat({wild, wild * 100, wild * 1e6}).repeat({2, 1}).to(torch::kFloat32);
  const BatchTargets targets{torch::full({3}, 4, torch::kInt64), {}};
  for (const std::string name : {"dpn", "dpn-reverse", "outlier-exposure", "dnn"}) {
    MethodOptions options;
    options.name = name;
    const auto gradient = make_method(options)->loss(within_reach(logits), targets, 1e15).gradient;
    EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << name;
    EXPECT_TRUE((gradient.select(1, 0) >= 0).all().item<bool>()) << name << ": " << gradient.select(1, 0);
    if (name == "dpn-reverse") continue;  // it also wants the smallest classes to grow
    EXPECT_LT(gradient.abs().max().item<double>(), 1e15) << name;
    const auto along = (gradient.to(torch::kFloat64) * logits.to(torch::kFloat64)).sum(1);
    EXPECT_TRUE((along >= 0).all().item<bool>()) << name << ": " << along;
  }
}

TEST(WithinReach, LeavesUsualRowsAndAllProbabilitiesAsTheyAre) {
  const auto logits = torch::tensor({{30.f, -2.f, 7.5f}, {31.f, 31.f, -400.f}, {-900.f, -901.f, -902.f}});
  const auto seen = within_reach(logits);
  EXPECT_TRUE(seen[0].equal(logits[0]));
  EXPECT_TRUE(seen[1].equal(torch::tensor({30.f, 30.f, -401.f})));
  EXPECT_TRUE(seen[2].equal(logits[2]));
}

}  // namespace
}  // namespace priornet
