#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/losses.h>
#include <priornet/uncertainty/measures.h>
#include <testing/accuracy.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include "uncertainty/losses/loss_kernels.h"

#include <torch/csrc/autograd/autograd.h>

#include <functional>

namespace priornet {
namespace {

torch::Tensor labels_for(int64_t rows, int64_t classes) {
  return torch::arange(rows, torch::kInt64).remainder(classes);
}

torch::Tensor gradient_of(const torch::Tensor& value, const torch::Tensor& logits) {
  return torch::autograd::grad({value.sum()}, {logits})[0];
}

// The paper's target with alpha0 = 1e3, epsilon = 1e-2 and ten classes is 910 on the label and 10 elsewhere.
TEST(DirichletTarget, IsThePapers) {
  const auto alpha = DirichletTarget::smoothed_labels(torch::tensor({2, 0}, torch::kInt64))
                         .concentrations(torch::zeros({2, 10}, torch::kFloat64));
  auto wanted = torch::full({2, 10}, 10.0, torch::kFloat64);
  wanted[0][2] = wanted[1][0] = 910;
  EXPECT_TRUE(near(alpha, wanted));
  EXPECT_TRUE(near(DirichletTarget::flat().concentrations(torch::zeros({2, 3})), torch::ones({2, 3})));
  const auto teacher = rows({{0.2, 0.8}});
  EXPECT_TRUE(near(DirichletTarget::teacher(teacher, 50).concentrations(teacher), rows({{10, 40}})));
}

// A certain teacher, and one that rounds to 0, as to 1.2e-7.
TEST(DirichletTarget, OfATeacherIsNeverZero) {
  const auto logits = make_logits(Shape::kRandom, 2, 3, torch::kFloat32, 1, -3, 8).requires_grad_();
  const double least = std::numeric_limits<float>::epsilon();
  const auto said = rows({{1, 0, 0}, {0.5, 0.5, 1e-30}}).to(torch::kFloat32);
  const auto target = DirichletTarget::teacher(said, 100);
  EXPECT_TRUE(near(target.concentrations(logits), 100 * rows({{1, least, least}, {0.5, 0.5, least}})));
  const auto wanted = DirichletTarget::teacher(said.clamp_min(least), 100);
  for (const auto divergence : {forward_kl, reverse_kl}) {
    const auto loss = divergence(logits, target);
    EXPECT_TRUE(loss.isfinite().all().item<bool>()) << loss;
    EXPECT_TRUE(loss.equal(divergence(logits, wanted)));
    EXPECT_TRUE(gradient_of(loss, logits).isfinite().all().item<bool>());
  }
  EXPECT_THROW(forward_kl(logits, DirichletTarget::teacher(torch::ones({2, 3}, torch::kInt64), 100)), ArgumentError);
}

TEST(Divergences, AreThoseOfTheTarget) {
  const auto logits = make_logits(Shape::kRandom, 9, 4, torch::kFloat64, 1, -3, 8);
  for (const auto& target : {DirichletTarget::smoothed_labels(labels_for(9, 4)), DirichletTarget::flat(),
                             DirichletTarget::teacher(torch::softmax(logits.flip({1}), 1), 30)}) {
    const auto wanted = target.concentrations(logits).log();
    EXPECT_TRUE(near(forward_kl(logits, target), kl_divergence(wanted, logits), 1e-11));
    EXPECT_TRUE(near(reverse_kl(logits, target), kl_divergence(logits, wanted), 1e-11));
  }
}

TEST(Divergences, VanishWithTheirGradientAtTheTarget) {
  const auto target = DirichletTarget::smoothed_labels(labels_for(5, 3), {100, 0.05});
  const auto logits = target.concentrations(torch::zeros({5, 3}, torch::kFloat64)).log().requires_grad_();
  for (const auto& loss : {forward_kl(logits, target), reverse_kl(logits, target)}) {
    EXPECT_TRUE(near(loss, torch::zeros({5}, torch::kFloat64), 1e-12));
    EXPECT_TRUE(near(gradient_of(loss, logits), torch::zeros({5, 3}, torch::kFloat64), 1e-11));
  }
}

// At the target the terms cancel, and rounding has no sign.
TEST(Divergences, AreNeverNegative) {
  for (const double alpha0 : {0.3, 30.0, 1e5}) {
    const auto target = DirichletTarget::smoothed_labels(labels_for(200, 7), {alpha0, 0.05});
    const auto near_target = target.concentrations(torch::zeros({200, 7}, torch::kFloat64)).log() +
                             1e-9 * make_logits(Shape::kRandom, 200, 7, torch::kFloat64, 5);
    for (const auto& logits : {near_target, near_target.to(torch::kFloat32)}) {
      for (const auto& loss : {forward_kl(logits, target), reverse_kl(logits, target)})
        EXPECT_GE(loss.min().item<double>(), 0.0) << alpha0;
      EXPECT_GE(kl_divergence(logits, logits.flip({0}).flip({0})).min().item<double>(), 0.0) << alpha0;
      const auto other = logits + 1e-8;
      EXPECT_GE(kl_divergence(logits, other).min().item<double>(), 0.0) << alpha0;
    }
  }
}

TEST(Divergences, StayFiniteForAnyLogit) {
  const auto values = vector({-3.4e38, -1000, -88, 0, 80, 1000, 3.4e38}).to(torch::kFloat32);
  const auto logits = torch::cartesian_prod({values, values}).requires_grad_();
  const auto labels = labels_for(logits.size(0), 2);
  for (const auto& target : {DirichletTarget::smoothed_labels(labels), DirichletTarget::flat()}) {
    for (const auto& loss : {forward_kl(logits, target), reverse_kl(logits, target)}) {
      EXPECT_TRUE(loss.isfinite().all().item<bool>()) << loss;
      EXPECT_TRUE(gradient_of(loss, logits).isfinite().all().item<bool>());
    }
  }
}

TEST(Losses, PassOnNaN) {
  auto logits = torch::zeros({3, 4});
  logits[1][2] = NAN;
  const auto labels = torch::zeros({3}, torch::kInt64);
  const auto target = DirichletTarget::smoothed_labels(labels);
  for (const auto& loss : {forward_kl(logits, target), reverse_kl(logits, target), cross_entropy(logits, labels)})
    EXPECT_TRUE(loss.isnan().equal(torch::tensor({false, true, false}))) << loss;
}

TEST(CrossEntropy, IsLibTorchs) {
  const auto logits = make_logits(Shape::kRandom, 11, 5, torch::kFloat64, 2).requires_grad_();
  const auto labels = labels_for(11, 5);
  const auto wanted = -torch::log_softmax(logits, 1).gather(1, labels.unsqueeze(1)).squeeze(1);
  const auto found = cross_entropy(logits, labels);
  EXPECT_TRUE(near(found, wanted));
  EXPECT_TRUE(near(gradient_of(found, logits), gradient_of(wanted, logits)));
}

class PriorNetworkLossTest : public testing::TestWithParam<Divergence> {};

TEST_P(PriorNetworkLossTest, IsTheWeightedSumOfItsParts) {
  const auto logits = make_logits(Shape::kRandom, 10, 6, torch::kFloat64, 3, -3, 6).requires_grad_();
  const auto labels = labels_for(7, 6);
  PriorNetworkLossOptions options;
  options.divergence = GetParam();
  options.target = {100, 0.02};
  options.in_weight = 0.5;
  options.out_weight = 2;
  options.cross_entropy_weight = 3;
  const auto divergence = GetParam() == Divergence::kForward ? forward_kl : reverse_kl;
  const auto in = divergence(logits.slice(0, 0, 7), DirichletTarget::smoothed_labels(labels, options.target)).mean();
  const auto out = divergence(logits.slice(0, 7), DirichletTarget::flat()).mean();
  const auto entropy = cross_entropy(logits.slice(0, 0, 7), labels).mean();
  const auto wanted = 0.5 * in + 2 * out + 3 * entropy;

  const auto loss = prior_network_loss(logits, labels, options);
  EXPECT_TRUE(near(loss.total, wanted));
  EXPECT_TRUE(near(loss.in, in));
  EXPECT_TRUE(near(loss.out, out));
  EXPECT_TRUE(near(loss.cross_entropy, entropy));
  EXPECT_TRUE(near(gradient_of(loss.total * 3, logits), gradient_of(wanted * 3, logits)));
  EXPECT_FALSE(loss.in.requires_grad());
}

TEST_P(PriorNetworkLossTest, TakesABatchOfEitherPartAlone) {
  const auto logits = make_logits(Shape::kRandom, 4, 3, torch::kFloat64, 4, -3, 6).requires_grad_();
  PriorNetworkLossOptions options;
  options.divergence = GetParam();
  const auto only_in = prior_network_loss(logits, labels_for(4, 3), options);
  EXPECT_EQ(only_in.out.item<double>(), 0);
  const auto only_out = prior_network_loss(logits, torch::empty({0}, torch::kInt64), options);
  EXPECT_EQ(only_out.in.item<double>(), 0);
  EXPECT_TRUE(only_out.total.isfinite().item<bool>());
  EXPECT_TRUE(gradient_of(only_out.total, logits).isfinite().all().item<bool>());
}

TEST_P(PriorNetworkLossTest, HasTheSameGradientWithoutAGraph) {
  const auto logits = make_logits(Shape::kRandom, 10, 6, torch::kFloat32, 6, -3, 6).requires_grad_();
  PriorNetworkLossOptions options;
  options.divergence = GetParam();
  options.cross_entropy_weight = 2;
  const auto loss = prior_network_loss(logits, labels_for(7, 6), options);
  const auto [same, gradient] = prior_network_gradient(logits, labels_for(7, 6), options);
  EXPECT_TRUE(torch::equal(same.total, loss.total));
  EXPECT_TRUE(torch::equal(same.out, loss.out));
  EXPECT_FALSE(same.total.requires_grad());
  const auto wanted = gradient_of(loss.total, logits);
  EXPECT_TRUE(torch::equal(gradient, wanted));
  options.steepest = wanted.abs().max().item<double>() / 2;
  EXPECT_TRUE(torch::equal(prior_network_gradient(logits, labels_for(7, 6), options).gradient,
                           wanted.clamp(-options.steepest, options.steepest)));
}

INSTANTIATE_TEST_SUITE_P(Both, PriorNetworkLossTest, testing::Values(Divergence::kForward, Divergence::kReverse));

TEST(LossGradients, AreThoseOfTheGraph) {
  const auto logits = make_logits(Shape::kRandom, 9, 5, torch::kFloat64, 7, -3, 6).requires_grad_();
  const auto labels = labels_for(9, 5);
  const auto cross = cross_entropy(logits, labels).mean();
  const auto found = cross_entropy_gradient(logits, labels);
  EXPECT_TRUE(near(found.loss.total, cross));
  EXPECT_TRUE(near(found.loss.cross_entropy, cross));
  EXPECT_EQ(found.loss.in.item<double>(), 0);
  EXPECT_TRUE(near(found.gradient, gradient_of(cross, logits)));

  const auto teacher = torch::softmax(logits.detach().slice(0, 0, 6).flip({1}), 1);
  const auto in = forward_kl(logits.slice(0, 0, 6), DirichletTarget::teacher(teacher, 30)).mean();
  const auto out = forward_kl(logits.slice(0, 6), DirichletTarget::flat()).mean();
  const auto distilled = distillation_gradient(logits, teacher, {30, 0.5, 2});
  EXPECT_TRUE(near(distilled.loss.total, 0.5 * in + 2 * out));
  EXPECT_TRUE(near(distilled.loss.in, in));
  EXPECT_TRUE(near(distilled.loss.out, out));
  EXPECT_EQ(distilled.loss.cross_entropy.item<double>(), 0);
  EXPECT_TRUE(near(distilled.gradient, gradient_of(0.5 * in + 2 * out, logits)));
}

TEST(Losses, RejectWhatDoesNotFit) {
  const auto logits = torch::zeros({4, 3});
  EXPECT_THROWS(ArgumentError, forward_kl(logits, DirichletTarget::smoothed_labels(torch::tensor({0, 1, 2, 3}))),
                "forward_kl: labels should be in [0, 3), found 3");
  EXPECT_THROWS(ArgumentError, reverse_kl(logits, DirichletTarget::smoothed_labels(labels_for(3, 3))),
                "reverse_kl: labels should be of shape [4], found shape [3]");
  EXPECT_THROWS(ArgumentError, forward_kl(logits, DirichletTarget::smoothed_labels(labels_for(4, 3), {1e3, 0.5})),
                "forward_kl: epsilon should be less than 1 / (classes - 1), found 0.5");
  EXPECT_THROWS(ArgumentError, DirichletTarget::smoothed_labels(labels_for(4, 3), {-1, 0.01}),
                "DirichletTarget: alpha0 should be positive and finite, found -1");
  EXPECT_THROWS(ArgumentError, DirichletTarget::teacher(torch::ones({4, 3}) / 3, INFINITY),
                "DirichletTarget: alpha0 should be positive and finite, found inf");
  EXPECT_THROWS(ArgumentError, forward_kl(logits, DirichletTarget::teacher(torch::ones({4, 2}), 10)),
                "forward_kl: probabilities should be shaped like logits (shape [4, 3]), found shape [4, 2]");
  EXPECT_THROWS(ArgumentError, prior_network_loss(logits, labels_for(5, 3)),
                "prior_network_loss: labels should be of shape [4], found shape [5]");
  EXPECT_THROWS(ArgumentError, prior_network_loss(logits, labels_for(4, 3).unsqueeze(1)),
                "prior_network_loss: labels should be of rank 1, found shape [4, 1]");
  EXPECT_THROWS(ArgumentError, distillation_gradient(logits, torch::ones(3)),
                "distillation_gradient: probabilities should be of rank 2, found shape [3]");
  EXPECT_THROWS(ArgumentError, distillation_gradient(logits, torch::Tensor()),
                "distillation_gradient: probabilities should be a tensor, found none");
  EXPECT_THROWS(ArgumentError, cross_entropy(logits, torch::Tensor()),
                "cross_entropy: labels should be a tensor, found none");
}

// The kernels would read memory of another device.
TEST(Losses, RejectTargetsOnAnotherDevice) {
  const auto logits = torch::zeros({4, 3});
  const auto labels = labels_for(4, 3).to(torch::kMeta);
  const auto probabilities = (torch::ones({4, 3}) / 3).to(torch::kMeta);
  EXPECT_THROWS(ArgumentError, forward_kl(logits, DirichletTarget::smoothed_labels(labels)),
                "forward_kl: labels should be on cpu, like logits, found meta");
  EXPECT_THROWS(ArgumentError, reverse_kl(logits, DirichletTarget::teacher(probabilities, 10)),
                "reverse_kl: probabilities should be on cpu, like logits, found meta");
  EXPECT_THROWS(ArgumentError, cross_entropy(logits, labels),
                "cross_entropy: labels should be on cpu, like logits, found meta");
  EXPECT_THROWS(ArgumentError, prior_network_loss(logits, labels),
                "prior_network_loss: labels should be on cpu, like logits, found meta");
  EXPECT_THROWS(ArgumentError, cross_entropy_gradient(logits, labels),
                "cross_entropy_gradient: labels should be on cpu, like logits, found meta");
  EXPECT_THROWS(ArgumentError, distillation_gradient(logits, probabilities),
                "distillation_gradient: probabilities should be on cpu, like logits, found meta");
}

// Without an error, the gradient would look right but lack the part through the loss.
TEST(Losses, RefuseASecondDerivative) {
  const auto inputs = make_logits(Shape::kRandom, 4, 3, torch::kFloat64, 3, -2, 4).requires_grad_();
  const auto weights = torch::eye(3, torch::kFloat64).requires_grad_();
  const auto penalise = [&](const std::function<torch::Tensor(const torch::Tensor&)>& loss) {
    const auto slope = torch::autograd::grad({loss(inputs.matmul(weights)).sum()}, {inputs}, {}, true, true)[0];
    slope.square().sum().backward();
  };
  const auto labels = labels_for(4, 3);
  const auto target = DirichletTarget::smoothed_labels(labels);
  EXPECT_THROWS(ArgumentError, penalise([&](const auto& z) { return forward_kl(z, target); }),
                "forward_kl: can be differentiated only once, and a second derivative was asked for");
  EXPECT_THROWS(ArgumentError, penalise([&](const auto& z) { return cross_entropy(z, labels); }),
                "cross_entropy: can be differentiated only once, and a second derivative was asked for");
  EXPECT_THROWS(ArgumentError, penalise([&](const auto& z) { return prior_network_loss(z, labels).total; }),
                "prior_network_loss: can be differentiated only once, and a second derivative was asked for");
  EXPECT_THROWS(ArgumentError, penalise([&](const auto& z) { return kl_divergence(z, torch::zeros_like(z)); }),
                "kl_divergence: can be differentiated only once, and a second derivative was asked for");
  EXPECT_THROWS(ArgumentError, penalise([&](const auto& z) { return differential_entropy(z); }),
                "dirichlet_measures: can be differentiated only once, and a second derivative was asked for");
  EXPECT_THROWS(ArgumentError,
                penalise([&](const auto& z) { return log_density(z, torch::log_softmax(z, 1).detach()); }),
                "log_density: can be differentiated only once, and a second derivative was asked for");
}

TEST(Losses, GiveTheSameGradientWhereItsGraphIsKept) {
  const auto logits = make_logits(Shape::kRandom, 4, 3, torch::kFloat64, 3, -2, 4).requires_grad_();
  const auto loss = forward_kl(logits, DirichletTarget::flat()).sum();
  EXPECT_TRUE(
      torch::autograd::grad({loss}, {logits}, {}, true, true)[0].equal(torch::autograd::grad({loss}, {logits})[0]));
}

// Vectorised equals looped, for every instruction set, at sizes that leave lanes over.
TEST(LossKernels, AgreeAcrossInstructionSets) {
  const int64_t rows = 11;
  for (const auto divergence : {RowDivergence::kForward, RowDivergence::kReverse}) {
    for (const int64_t classes : {2, 10, 70}) {
      const auto logits = make_logits(Shape::kRandom, rows, classes, torch::kFloat64, 5).requires_grad_();
      const auto target = DirichletTarget::smoothed_labels(labels_for(rows, classes), {500, 1e-3});
      const auto whole = (divergence == RowDivergence::kForward ? forward_kl : reverse_kl)(logits, target);
      const auto whole_gradient = gradient_of(whole, logits);
      for (const auto set : {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
        if (!is_supported(set)) continue;
        auto values = torch::full({rows}, NAN, torch::kFloat64);
        auto gradient = torch::full({rows, classes}, NAN, torch::kFloat64);
        const auto constants =
            label_target(target.concentration_on_label(classes), target.concentration_elsewhere(), classes);
        const LossRows<double> work{logits.data_ptr<double>(),
                                    rows,
                                    classes,
                                    divergence,
                                    target.labels().data_ptr<int64_t>(),
                                    nullptr,
                                    constants,
                                    500,
                                    {1, 0},
                                    values.data_ptr<double>(),
                                    nullptr,
                                    gradient.data_ptr<double>()};
        for (int64_t n = 0; n < rows; n += 4) loss_rows(work, n, std::min(n + 4, rows), set);
        EXPECT_TRUE(near(values, whole)) << name_of(set);
        EXPECT_TRUE(near(gradient, whole_gradient)) << name_of(set);
      }
    }
  }
}

}  // namespace
}  // namespace priornet
