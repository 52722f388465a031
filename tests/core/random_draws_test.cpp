#include <priornet/uncertainty/random.h>

#include <gtest/gtest.h>

namespace priornet {
namespace {

double mean_of(const torch::Tensor& values) { return values.to(torch::kFloat64).mean().item<double>(); }

TEST(RandomDraws, HaveTheMomentsOfTheirDistributions) {
  const auto normal = normal_draws(1000, 1001, {7});
  EXPECT_NEAR(mean_of(normal), 0, 5e-3);
  EXPECT_NEAR(mean_of(normal.pow(2)), 1, 1e-2);
  EXPECT_NEAR(mean_of(normal.pow(3)), 0, 2e-2);
  EXPECT_NEAR(mean_of(normal.pow(4)), 3, 5e-2);
  const auto uniform = uniform_draws(1000, 1001, {7});
  EXPECT_NEAR(mean_of(uniform), 0.5, 2e-3);
  EXPECT_NEAR(mean_of(uniform.pow(2)), 1 / 3.0, 2e-3);
  EXPECT_GT(uniform.min().item<float>(), 0);
  EXPECT_LE(uniform.max().item<float>(), 1);
}

TEST(RandomDraws, OfNeighboursAreUnrelated) {
  const auto draws = normal_draws(1000, 1000, {7});
  EXPECT_NEAR(mean_of(draws.slice(1, 0, -1) * draws.slice(1, 1)), 0, 5e-3);
  EXPECT_NEAR(mean_of(draws.slice(0, 0, -1) * draws.slice(0, 1)), 0, 5e-3);
}

TEST(RandomDraws, DependOnSeedRowAndColumnAlone) {
  const auto whole = normal_draws(10, 7, {3});
  EXPECT_TRUE(normal_draws(4, 7, {3, 6}).equal(whole.slice(0, 6)));
  EXPECT_TRUE(normal_draws(10, 4, {3}).equal(whole.slice(1, 0, 4)));
  EXPECT_FALSE(normal_draws(10, 7, {4}).equal(whole));
  EXPECT_EQ(normal_draws(0, 7, {3}).sizes(), torch::IntArrayRef({0, 7}));
}

}  // namespace
}  // namespace priornet
