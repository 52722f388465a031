#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/losses.h>
#include <priornet/uncertainty/measures.h>
#include <testing/accuracy.h>
#include <testing/tensors.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <functional>

// Every function that takes CUDA tensors gives the same on a GPU as on the CPU, where the other tests check it.

namespace priornet {
namespace {

const torch::Device kCuda(torch::kCUDA);

using Function = std::function<torch::Tensor(const torch::Tensor&)>;

/// Compares values, and gradients of a weighted sum, at sizes that fill no block.
void expect_same(const std::string& name, const Function& function) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const double tolerance = dtype == torch::kFloat32 ? 1e-6 : 1e-11;
    for (const auto shape : {Shape::kRandom, Shape::kEqual, Shape::kDominated}) {
      for (const int64_t classes : {2, 10, 131}) {
        const auto here = make_logits(shape, 137, classes, dtype, 31).requires_grad_();
        const auto there = here.detach().to(kCuda).requires_grad_();
        const auto value = function(here), other = function(there);
        EXPECT_TRUE(other.is_cuda());
        EXPECT_TRUE(near(other.cpu(), value, tolerance)) << name << ", " << classes << ", " << name_of(shape);
        if (!value.requires_grad()) continue;
        const auto gradient = torch::autograd::grad({value}, {here}, {torch::ones_like(value)})[0];
        const auto gradient_there = torch::autograd::grad({other}, {there}, {torch::ones_like(other)})[0];
        EXPECT_TRUE(near(gradient_there.cpu(), gradient, tolerance)) << name << " gradient, " << name_of(shape);
      }
    }
  }
}

/// Log probabilities that do not depend on where they are made.
torch::Tensor log_mu_for(const torch::Tensor& logits) {
  return torch::log_softmax(logits.detach().cpu() / 9, 1).to(logits.device());
}

torch::Tensor labels_for(const torch::Tensor& logits) {
  return torch::arange(logits.size(0), torch::kInt64).remainder(logits.size(1)).to(logits.device());
}

TEST(Cuda, MeasuresAreTheCpus) {
  expect_same("max_probability", [](const torch::Tensor& z) { return max_probability(z); });
  expect_same("entropy", entropy);
  expect_same("expected_entropy", expected_entropy);
  expect_same("mutual_information", mutual_information);
  expect_same("differential_entropy", differential_entropy);
  expect_same("precision", precision);
  expect_same("prediction", [](const torch::Tensor& z) { return dirichlet_measures(z).prediction; });
}

TEST(Cuda, DivergencesAndDensitiesAreTheCpus) {
  expect_same("kl_divergence", [](const torch::Tensor& z) { return kl_divergence(z, z.flip({1})); });
  expect_same("log_density", [](const torch::Tensor& z) { return log_density(z, log_mu_for(z)); });
}

TEST(Cuda, LossesAreTheCpus) {
  for (const auto loss : {forward_kl, reverse_kl}) {
    expect_same("labels", [&](const torch::Tensor& z) {
      return loss(z, DirichletTarget::smoothed_labels(labels_for(z), {1e3, 1e-3}));
    });
    expect_same("flat", [&](const torch::Tensor& z) { return loss(z, DirichletTarget::flat()); });
    expect_same("teacher", [&](const torch::Tensor& z) {
      return loss(z, DirichletTarget::teacher(log_mu_for(z).cpu().exp().to(z.device()), 30));
    });
  }
  expect_same("cross_entropy", [](const torch::Tensor& z) { return cross_entropy(z, labels_for(z)); });
  expect_same("prior_network_loss", [](const torch::Tensor& z) {
    PriorNetworkLossOptions options;
    options.target.epsilon = 1e-3;
    options.cross_entropy_weight = 0.5;
    return prior_network_loss(z, labels_for(z).slice(0, 0, z.size(0) / 2), options).total.unsqueeze(0);
  });
}

void expect_near(const LossWithGradient& found, const LossWithGradient& wanted, const std::string& what) {
  EXPECT_TRUE(near(found.loss.total.cpu(), wanted.loss.total, 1e-6)) << what;
  EXPECT_TRUE(near(found.loss.in.cpu(), wanted.loss.in, 1e-6)) << what;
  EXPECT_TRUE(near(found.loss.out.cpu(), wanted.loss.out, 1e-6)) << what;
  EXPECT_TRUE(near(found.loss.cross_entropy.cpu(), wanted.loss.cross_entropy, 1e-6)) << what;
  EXPECT_TRUE(near(found.gradient.cpu(), wanted.gradient, 1e-6)) << what;
}

// As many rows as a training step has, fewer than one block takes, and more than all blocks take at once; so many
// classes that a block has to ask for shared memory, and more than fit there.
TEST(Cuda, LossesOfBatchesAreTheCpus) {
  for (const int64_t rows : {1, 7, 512, 20001}) {
    for (const int64_t classes : {2, 10, 33, 36, 1000, 1600}) {
      if (classes > 36 && rows > 512) continue;
      const auto here = make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 41, -5, 10);
      const auto there = here.to(kCuda);
      const std::string size = std::to_string(rows) + " x " + std::to_string(classes);
      for (const int64_t in : {int64_t{0}, rows / 2, rows}) {
        const auto labels = labels_for(here).slice(0, 0, in);
        for (const auto divergence : {Divergence::kForward, Divergence::kReverse}) {
          PriorNetworkLossOptions options;
          options.divergence = divergence;
          options.target.epsilon = std::min(0.01, 0.5 / static_cast<double>(classes));
          options.cross_entropy_weight = 0.5;
          options.steepest = 1e-3;
          expect_near(prior_network_gradient(there, labels.to(kCuda), options),
                      prior_network_gradient(here, labels, options), size);
        }
        const auto teacher = log_mu_for(here).exp().slice(0, 0, in);
        expect_near(distillation_gradient(there, teacher.to(kCuda), {30, 0.5, 2}),
                    distillation_gradient(here, teacher, {30, 0.5, 2}), size);
      }
      const auto labels = labels_for(here);
      expect_near(cross_entropy_gradient(there, labels.to(kCuda)), cross_entropy_gradient(here, labels), size);
    }
  }
}

/// Long rows, some of them near their target and some with a logit that float32 cannot take: these need float64.
torch::Tensor rows_of_both_kinds(int64_t rows, int64_t classes) {
  auto logits = make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 43, -5, 10);
  const auto near_flat = logits / 100;
  for (int64_t n = 0; n < rows; n += 3) logits[n] = near_flat[n];
  for (int64_t n = 1; n < rows; n += 7) logits[n][n % classes] = 70;
  return logits;
}

TEST(Cuda, LossesOfBatchesThatFloat32IsNotEnoughForAreTheCpus) {
  for (const auto [rows, classes] : {std::pair{20001, 36}, {20001, 37}, {500, 131}, {500, 1000}}) {
    const auto here = rows_of_both_kinds(rows, classes);
    const auto labels = labels_for(here).slice(0, 0, rows / 2);
    PriorNetworkLossOptions options;
    options.target.epsilon = 0.5 / classes;
    options.cross_entropy_weight = 0.5;
    expect_near(prior_network_gradient(here.to(kCuda), labels.to(kCuda), options),
                prior_network_gradient(here, labels, options), std::to_string(rows) + " x " + std::to_string(classes));
    EXPECT_TRUE(near(forward_kl(here.to(kCuda), DirichletTarget::flat()).cpu(),
                     forward_kl(here, DirichletTarget::flat()), 1e-6));
  }
}

TEST(Cuda, LossesOfBatchesAreTheSameEveryTime) {
  for (const auto& batch :
       {make_logits(Shape::kRandom, 20001, 10, torch::kFloat32, 42, -5, 10), rows_of_both_kinds(20001, 40)}) {
    const auto logits = batch.to(kCuda);
    const auto labels = labels_for(logits).slice(0, 0, 9000);
    const auto first = prior_network_gradient(logits, labels);
    for (int i = 0; i < 5; ++i) {
      const auto again = prior_network_gradient(logits, labels);
      EXPECT_TRUE(again.loss.total.equal(first.loss.total));
      EXPECT_TRUE(again.gradient.equal(first.gradient));
    }
  }
}

TEST(Cuda, DrawsAreTheCpus) {
  expect_same("sample_log", [](const torch::Tensor& z) { return sample_log(z / 9, {3, 5}).exp(); });
}

TEST(Cuda, EnsemblesAreTheCpus) {
  const auto here = make_logits(Shape::kRandom, 4 * 50, 10, torch::kFloat64, 5, -3, 8).view({4, 50, 10});
  here.slice(1, 40).add_(12);  // precise members: their densities are near no other's draws
  const auto m = dirichlet_ensemble_measures(here), other = dirichlet_ensemble_measures(here.to(kCuda));
  EXPECT_TRUE(near(other.mutual_information.cpu(), m.mutual_information));
  EXPECT_TRUE(near(other.epkl.cpu(), m.epkl, 1e-10));
  EXPECT_TRUE(near(other.mutual_information_mu_theta.cpu(), m.mutual_information_mu_theta, 1e-8));
  EXPECT_TRUE(
      near(ensemble_measures(here.to(kCuda)).mutual_information.cpu(), ensemble_measures(here).mutual_information));
}

}  // namespace
}  // namespace priornet
