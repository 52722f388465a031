#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/errors.h>
#include <testing/accuracy.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <ATen/Parallel.h>
#include <boost/math/distributions/beta.hpp>

namespace priornet {
namespace {

/// Kolmogorov and Smirnov's statistic of draws of mu_0 against its marginal, Beta(alpha_0, sum of the others).
double distance_from_marginal(const std::vector<double>& alpha, int64_t draws) {
  const auto logits = vector(alpha).log().unsqueeze(0);
  auto mu = sample(logits, {draws, 5}).select(2, 0).flatten();
  mu = std::get<0>(mu.sort());
  double rest = 0;
  for (size_t c = 1; c < alpha.size(); ++c) rest += alpha[c];
  const boost::math::beta_distribution<double> marginal(alpha[0], rest);
  double distance = 0;
  for (int64_t i = 0; i < draws; ++i) {
    const double below = cdf(marginal, std::min(mu[i].item<double>(), 1.0));
    distance = std::max({distance, below - static_cast<double>(i) / static_cast<double>(draws),
                         static_cast<double>(i + 1) / static_cast<double>(draws) - below});
  }
  return distance;
}

TEST(Sample, FollowsItsMarginals) {
  constexpr int64_t kDraws = 4000;
  const double critical = 1.95 / std::sqrt(kDraws);  // at 0.1 %
  EXPECT_LT(distance_from_marginal({1, 1, 1}, kDraws), critical);
  EXPECT_LT(distance_from_marginal({0.3, 0.5}, kDraws), critical);
  EXPECT_LT(distance_from_marginal({2, 7, 30, 0.1}, kDraws), critical);
  EXPECT_LT(distance_from_marginal({900, 50, 50}, kDraws), critical);
}

// For large alpha mu is normal about p with variance p (1 - p) / alpha0.
TEST(Sample, StaysRightForLargeConcentrations) {
  const auto log_mu = sample_log(rows({{30, 30}}), {4000, 6}).select(2, 0).flatten();
  const auto deviation = (log_mu + std::log(2.0)) * 2 * std::sqrt(2 * std::exp(30.0)) / 2;
  EXPECT_NEAR(deviation.mean().item<double>(), 0, 0.06);
  EXPECT_NEAR(deviation.std().item<double>(), 1, 0.06);
}

TEST(SampleLog, IsFiniteAndNormalisedForTinyConcentrations) {
  const auto log_mu = sample_log(torch::full({50, 4}, -15.0), {3, 7});
  EXPECT_TRUE(log_mu.isfinite().all().item<bool>());
  EXPECT_TRUE(near(log_mu.exp().sum(2), torch::ones({3, 50}), 1e-5));
}

TEST(SampleLog, OfARowWithoutNumbersIsNaNAndEnds) {
  const auto log_mu = sample_log(rows({{0, 1}, {NAN, 1}, {0, NAN}, {1, 0}}), {2, 7});
  EXPECT_TRUE(log_mu.slice(1, 1, 3).isnan().all().item<bool>());
  EXPECT_TRUE(log_mu.select(1, 0).isfinite().all().item<bool>());
  EXPECT_TRUE(log_mu.select(1, 3).isfinite().all().item<bool>());
}

TEST(Sample, DependsOnTheSeedAndNotOnTheThreads) {
  const auto logits = make_logits(Shape::kRandom, 100, 10, torch::kFloat32, 1, -2, 4);
  const auto one = sample_log(logits, {5, 8});
  const int threads = at::get_num_threads();
  at::set_num_threads(threads == 1 ? 2 : 1);
  EXPECT_TRUE(one.equal(sample_log(logits, {5, 8})));
  at::set_num_threads(threads);
  EXPECT_FALSE(one.equal(sample_log(logits, {5, 9})));
  EXPECT_FALSE(one[0].equal(one[1]));
}

TEST(Sample, RejectsANegativeNumberOfSamples) {
  EXPECT_THROWS(ArgumentError, sample(torch::zeros({1, 2}), {-1, 0}),
                "sample_log: samples should be at least 0, found -1");
}

}  // namespace
}  // namespace priornet
