#include "learning/networks/density_layer.h"
#include <gtest/gtest.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/networks.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <cmath>
#include <numbers>

namespace priornet {
namespace {

torch::Tensor drawn(at::IntArrayRef shape, uint64_t seed) {
  return torch::randn(shape, make_generator(seed), torch::kFloat64);
}

// With beta = 0 a flow moves nothing: the density is the Gaussian.
TEST(RadialLogDensity, IsGaussianWhereFlowsStandStill) {
  const auto z = drawn({5, 3}, 1), same = drawn({2, 4}, 2);
  const auto found = radial_log_density(z, drawn({2, 4, 3}, 3), same, same);
  const auto wanted = -0.5 * z.square().sum(1, true) - 1.5 * std::log(2.0 * std::numbers::pi);
  EXPECT_TRUE(near(found, wanted.expand({5, 2}), 1e-10));
}

TEST(RadialLogDensity, IsADensity) {
  // Flows of some strength, on a grid that holds almost all of the mass and is finer than the narrowest flow.
  constexpr int64_t kSide = 801;
  constexpr double kReach = 20.0;
  const auto axis = torch::linspace(-kReach, kReach, kSide, torch::kFloat64);
  const auto grid = torch::stack({axis.repeat_interleave(kSide), axis.repeat({kSide})}, 1);
  const auto density =
      radial_log_density(grid, drawn({3, 4, 2}, 4), 1.0 + 0.5 * drawn({3, 4}, 5), 2 * drawn({3, 4}, 6)).exp();
  const double cell = std::pow(2 * kReach / (kSide - 1), 2);
  EXPECT_TRUE(near(density.sum(0) * cell, torch::ones({3}, torch::kFloat64), 2e-3)) << density.sum(0) * cell;
}

TEST(RadialLogDensity, StaysFiniteFarAwayAndOnACentre) {
  auto z = torch::cat({torch::full({1, 2}, 1e6), torch::zeros({1, 2})}).requires_grad_();
  const auto zeros = torch::zeros({2, 3, 2});
  for (const double strength : {-30.0, 30.0}) {
    const auto found = radial_log_density(z, zeros, torch::full({2, 3}, strength), torch::full({2, 3}, -strength));
    EXPECT_TRUE(found.isfinite().all().item<bool>()) << found;
    z.mutable_grad() = torch::Tensor();
    found.sum().backward();
    EXPECT_TRUE(z.grad().isfinite().all().item<bool>()) << z.grad();
  }
}

ModelOptions with_densities() {
  ModelOptions options;
  options.name = "mlp";
  options.input = {2};
  options.classes = 3;
  options.density = 4;
  options.density_rows = 50;
  options.prior = 1.0;
  return options;
}

TEST(DensityLayer, HasNoEvidenceFarFromEverything) {
  const auto network = make_model(with_densities(), make_generator(1));
  network->eval();
  const auto logits = network->forward(torch::full({1, 2}, 1e5));
  EXPECT_TRUE(near(logits, torch::zeros({1, 3}), 1e-6)) << "alpha = 1 each";
  EXPECT_GT(network->forward(torch::zeros({1, 2})).min().item<double>(), 0.01);
}

// ln N is what the number of rows adds to the logarithm of evidence.
TEST(DensityLayer, CountsTheRowsOfAClass) {
  auto options = with_densities();
  options.prior = {};
  const auto few = make_model(options, make_generator(1));
  options.density_rows = 500;
  const auto many = make_model(options, make_generator(1));
  few->eval();
  many->eval();
  const auto points = drawn({4, 2}, 7).to(torch::kFloat32);
  EXPECT_TRUE(near(many->forward(points) - few->forward(points), torch::full({4, 3}, std::log(10.0)), 1e-4));
}

TEST(DensityLayer, SaysHowLargeItIs) {
  const auto network = make_model(with_densities(), make_generator(1));
  EXPECT_EQ(plan_model(with_densities())->size().parameters, static_cast<double>(parameter_count(*network)));
  EXPECT_EQ(network->describe().back().name, "densities in 4 dimensions, 50 rows per class, evidence above 1");
}

TEST(DensityLayer, RejectsNoDimensions) {
  auto options = with_densities();
  options.density = 0;
  EXPECT_THROWS(ArgumentError, plan_model(options), "network: density should be at least 1, found 0");
}

}  // namespace
}  // namespace priornet
