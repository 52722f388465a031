#include <priornet/learning/factor_analysis.h>
#include <priornet/uncertainty/errors.h>
#include <testing/fixtures.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include "learning/data/npy.h"

namespace priornet {
namespace {

FactorAnalysis fit(const torch::Tensor& data, const FactorAnalysisOptions& options) {
  NoProgress progress;
  return fit_factor_analysis(data, options, progress);
}

torch::Tensor covariance(const FactorAnalysis& model) {
  return model.loading.matmul(model.loading.t()) + torch::diag(model.noise);
}

void expect_never_falls(const FactorAnalysis& model) {
  const auto& likelihood = model.log_likelihood;
  for (size_t i = 1; i < likelihood.size(); ++i)
    ASSERT_GE(likelihood[i], likelihood[i - 1] - 1e-9 * std::abs(likelihood[i])) << "iteration " << i;
}

#ifdef PRIORNET_HAVE_LIBARCHIVE
// By tests/data/fixtures/make_factor_analysis.py.
TEST(FactorAnalysis, AgreesWithScikitLearn) {
  const auto path = fixture("factor_analysis.npz");
  const auto data = read_npz(path, "data");
  for (const int64_t latent : {2, 4}) {
    const auto model = fit(data, {.latent = latent, .max_iterations = 20000, .tolerance = 1e-10});
    const double wanted = read_npz(path, "log likelihood " + std::to_string(latent)).item<double>();
    EXPECT_NEAR(model.log_likelihood.back(), wanted, 1e-5);
    EXPECT_TRUE(near(covariance(model), read_npz(path, "covariance " + std::to_string(latent)), 2e-3));
    EXPECT_TRUE(near(model.mean, data.to(torch::kFloat64).mean(0)));
    expect_never_falls(model);
  }
}
#endif

/// Draws from a known model.
torch::Tensor example(int64_t rows, const torch::Tensor& loading, const torch::Tensor& noise) {
  torch::manual_seed(1);
  return torch::randn({rows, loading.size(1)}, torch::kFloat64).matmul(loading.t()) +
         torch::randn({rows, loading.size(0)}, torch::kFloat64) * noise.sqrt();
}

TEST(FactorAnalysis, FindsTheModelThatMadeTheData) {
  torch::manual_seed(0);
  const auto loading = torch::randn({12, 3}, torch::kFloat64);
  const auto noise = torch::rand({12}, torch::kFloat64) + 0.2;
  const auto data = example(200000, loading, noise);
  const auto model = fit(data, {.latent = 3, .tolerance = 1e-9});
  const auto exact = loading.matmul(loading.t()) + torch::diag(noise);
  EXPECT_LT((covariance(model) - exact).abs().max().item<double>(), 0.06);
  EXPECT_LT((model.noise - noise).abs().max().item<double>(), 0.02);
  expect_never_falls(model);
  EXPECT_NEAR(log_density(model, data).mean().item<double>(), model.log_likelihood.back(), 1e-9);
}

// With as many factors as dimensions the model is any Gaussian, whose likelihood at its best is known.
TEST(FactorAnalysis, IsTheWholeCovarianceWithEnoughFactors) {
  const auto data = example(500, torch::randn({4, 4}, torch::kFloat64), torch::full({4}, 0.3, torch::kFloat64));
  const auto model = fit(data, {.latent = 4, .max_iterations = 20000, .tolerance = 1e-11});
  const auto centred = data - data.mean(0);
  const auto full = centred.t().matmul(centred) / 500;
  const double best = -0.5 * (4 * std::log(2 * M_PI) + at::logdet(full).item<double>() + 4);
  EXPECT_NEAR(model.log_likelihood.back(), best, 1e-6);
}

TEST(FactorAnalysis, LogDensityIsThatOfTheGaussian) {
  const auto data = example(50, torch::randn({5, 2}, torch::kFloat64), torch::full({5}, 0.5, torch::kFloat64));
  const auto model = fit(data, {.latent = 2, .max_iterations = 3});
  const auto sigma = covariance(model);
  const auto centred = data - model.mean;
  const auto distance = (centred.matmul(at::linalg_inv(sigma)) * centred).sum(1);
  const auto wanted = -0.5 * (distance + at::logdet(sigma) + 5 * std::log(2 * M_PI));
  EXPECT_TRUE(near(log_density(model, data), wanted, 1e-10));
}

TEST(FactorAnalysis, BearsDimensionsThatNeverChange) {
  auto data = example(400, torch::randn({10, 2}, torch::kFloat64), torch::full({10}, 0.5, torch::kFloat64));
  data.select(1, 3).fill_(-1);
  data.select(1, 9).fill_(0.25);
  const auto model = fit(data.to(torch::kFloat32), {.latent = 2, .tolerance = 1e-8});
  expect_never_falls(model);
  EXPECT_TRUE(model.loading.isfinite().all().item<bool>());
  for (const int64_t constant : {3, 9}) {
    EXPECT_LT(model.loading[constant].abs().max().item<double>(), 1e-9);
    EXPECT_LT(model.noise[constant].item<double>(), 1e-5);
  }
}

TEST(FactorAnalysis, StopsWhereItIsTold) {
  const auto data = example(100, torch::randn({6, 2}, torch::kFloat64), torch::full({6}, 0.5, torch::kFloat64));
  EXPECT_EQ(fit(data, {.latent = 2, .max_iterations = 0}).log_likelihood.size(), 1u);
  EXPECT_EQ(fit(data, {.latent = 2, .max_iterations = 5, .tolerance = 0}).log_likelihood.size(), 6u);
  const auto stopped = fit(data, {.latent = 2, .tolerance = 1e-4}).log_likelihood;
  ASSERT_GT(stopped.size(), 2u);
  EXPECT_LT(stopped.back() - stopped[stopped.size() - 2], 1e-4);
  EXPECT_GE(stopped[stopped.size() - 2] - stopped[stopped.size() - 3], 1e-4);
}

TEST(FactorAnalysis, RejectsWhatCannotBeFitted) {
  EXPECT_THROWS(ArgumentError, fit(torch::zeros({1, 3}), {.latent = 1}),
                "fit_factor_analysis: the number of rows should be at least 2, found 1");
  EXPECT_THROWS(ArgumentError, fit(torch::rand({5, 3}), {.latent = 4}),
                "fit_factor_analysis: latent should be from 1 to 3, found 4");
  EXPECT_THROWS(ArgumentError, fit(torch::ones({5, 3}), {.latent = 1}),
                "fit_factor_analysis: the mean variance of data should be positive and finite, found 0");
  EXPECT_THROWS(ArgumentError, fit(torch::full({5, 3}, NAN), {.latent = 1}),
                "fit_factor_analysis: the mean variance of data should be positive and finite, found nan");
  EXPECT_THROWS(ArgumentError, fit(torch::rand({5, 3}), {.latent = 1, .noise_floor = 0}),
                "fit_factor_analysis: noise_floor should be positive, found 0");
}

}  // namespace
}  // namespace priornet
