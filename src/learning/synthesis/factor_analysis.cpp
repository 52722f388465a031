#include <priornet/learning/factor_analysis.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

using torch::Tensor;

constexpr double kLogTwoPi = 1.8378770664093453;

struct Moments {
  Tensor mean;        ///< [D]
  Tensor covariance;  ///< [D, D], divided by N
  Tensor variance;    ///< its diagonal
};

// The rows are converted to float64 in pieces: all at once would take twice the memory of the data.
Moments moments_of(const RowPieces& data) {
  constexpr int64_t kPiece = 8192;
  const int64_t rows = data.rows;
  const auto piece = [&](int64_t first) {
    return data.take(first, std::min(kPiece, rows - first)).to(torch::kFloat64);
  };
  auto mean = torch::zeros({data.columns}, torch::TensorOptions(torch::kFloat64).device(data.take(0, 1).device()));
  for (int64_t first = 0; first < rows; first += kPiece) mean += piece(first).sum(0);
  mean /= static_cast<double>(rows);
  auto covariance = torch::zeros({data.columns, data.columns}, mean.options());
  for (int64_t first = 0; first < rows; first += kPiece) {
    const auto centred = piece(first) - mean;
    covariance.addmm_(centred.t(), centred);
  }
  covariance /= static_cast<double>(rows);
  return {mean, covariance, covariance.diagonal().clone()};
}

/// The expected latent variables from the E-step, and the likelihood of the parameters it used.
struct Expectation {
  Tensor data_latent;    ///< E[(x - mean) z'], [D, L]
  Tensor latent_latent;  ///< E[z z'], [L, L]
  double log_likelihood;
};

Expectation expect(const Moments& moments, const Tensor& loading, const Tensor& noise) {
  const auto weighted = loading / noise.unsqueeze(1);  // psi^-1 W
  const auto identity = torch::eye(loading.size(1), loading.options());
  const auto root = at::linalg_cholesky(identity + loading.t().matmul(weighted));
  const auto posterior = at::cholesky_inverse(root);  // covariance of z given x
  const auto data_latent = moments.covariance.matmul(weighted).matmul(posterior);
  const auto beta = posterior.matmul(weighted.t());
  const auto log_determinant = noise.log().sum() + 2 * root.diagonal().log().sum();
  const auto distance = (moments.variance / noise).sum() - (weighted * data_latent).sum();
  const double dimensions = static_cast<double>(loading.size(0));
  return {data_latent, posterior + beta.matmul(data_latent),
          -0.5 * (dimensions * kLogTwoPi + (log_determinant + distance).item<double>())};
}

// The best W for psi = variance / 2 spans the leading eigenvectors of the scaled covariance; a few rounds of subspace
// iteration find them well enough to begin with.
Tensor first_loading(const Moments& moments, const Tensor& noise, const FactorAnalysisOptions& options) {
  constexpr int kRounds = 4;
  const auto root = noise.sqrt();
  const auto scaled = moments.covariance / root.unsqueeze(1) / root.unsqueeze(0);
  auto generator = make_generator(derive_seed(options.seed, "factor analysis"));
  auto basis = torch::randn({moments.mean.size(0), options.latent}, generator, torch::kFloat64).to(noise.device());
  for (int round = 0; round < kRounds; ++round) basis = std::get<0>(at::linalg_qr(scaled.matmul(basis)));
  const auto [values, vectors] = at::linalg_eigh(basis.t().matmul(scaled.matmul(basis)));
  // A column of zeros would stay zero.
  const auto length = (values - 1).clamp_min(0.01).sqrt();
  return root.unsqueeze(1) * basis.matmul(vectors) * length;
}

constexpr const char* kFunction = "fit_factor_analysis";

void check(const RowPieces& data, const FactorAnalysisOptions& options) {
  check_range(kFunction, "the number of rows", data.rows >= 2, "at least 2", static_cast<double>(data.rows));
  check_range(kFunction, "latent", options.latent >= 1 && options.latent <= data.columns,
              fmt::format("from 1 to {}", data.columns), static_cast<double>(options.latent));
  check_range(kFunction, "max_iterations", options.max_iterations >= 0, "at least 0",
              static_cast<double>(options.max_iterations));
  check_range(kFunction, "tolerance", options.tolerance >= 0, "at least 0", options.tolerance);
  check_range(kFunction, "noise_floor", options.noise_floor > 0, "positive", options.noise_floor);
}

}  // namespace

FactorAnalysis fit_factor_analysis(const Tensor& data, const FactorAnalysisOptions& options, Progress& progress) {
  check_floating(kFunction, "data", data);
  check_rank(kFunction, "data", data, 2);
  const auto rows = [&](int64_t first, int64_t count) { return data.narrow(0, first, count); };
  return fit_factor_analysis(RowPieces{data.size(0), data.size(1), rows}, options, progress);
}

FactorAnalysis fit_factor_analysis(const RowPieces& data, const FactorAnalysisOptions& options, Progress& progress) {
  constexpr const char* kTask = "factor analysis";
  check(data, options);
  const torch::NoGradGuard no_grad;
  const Moments moments = moments_of(data);
  const double mean_variance = moments.variance.mean().item<double>();
  check_range(kFunction, "the mean variance of data", std::isfinite(mean_variance) && mean_variance > 0,
              "positive and finite", mean_variance);
  const double floor = options.noise_floor * mean_variance;

  FactorAnalysis model{moments.mean, {}, (moments.variance / 2).clamp_min(floor), {}};
  model.loading = first_loading(moments, model.noise, options);
  auto& likelihood = model.log_likelihood;
  for (int64_t iteration = 0;; ++iteration) {
    const Expectation expected = expect(moments, model.loading, model.noise);
    const double gain = likelihood.empty() ? INFINITY : expected.log_likelihood - likelihood.back();
    likelihood.push_back(expected.log_likelihood);
    if (iteration == options.max_iterations || gain < options.tolerance) break;
    progress.report(kTask, iteration, options.max_iterations);
    const auto root = at::linalg_cholesky(expected.latent_latent);
    model.loading = at::cholesky_solve(expected.data_latent.t(), root).t().contiguous();
    model.noise = (moments.variance - (model.loading * expected.data_latent).sum(1)).clamp_min(floor);
  }
  progress.report(kTask, options.max_iterations, options.max_iterations);
  return model;
}

Tensor log_density(const FactorAnalysis& model, const Tensor& data) {
  check_floating("log_density", "data", data);
  check_rank("log_density", "data", data, 2);
  check_range("log_density", "the number of columns", data.size(1) == model.mean.size(0),
              fmt::format("{}", model.mean.size(0)), static_cast<double>(data.size(1)));
  const auto centred = data.to(torch::kFloat64) - model.mean;
  const auto weighted = model.loading / model.noise.unsqueeze(1);
  const auto identity = torch::eye(model.loading.size(1), model.loading.options());
  const auto root = at::linalg_cholesky(identity + model.loading.t().matmul(weighted));
  const auto projected = at::linalg_solve_triangular(root, weighted.t().matmul(centred.t()), /*upper=*/false);
  const auto distance = (centred.square() / model.noise).sum(1) - projected.square().sum(0);
  const auto log_determinant = model.noise.log().sum() + 2 * root.diagonal().log().sum();
  return -0.5 * (distance + log_determinant + static_cast<double>(data.size(1)) * kLogTwoPi);
}

torch::Tensor sample(const FactorAnalysis& model, int64_t count, const ScaleOptions& scale, uint64_t seed) {
  check_range("sample", "count", count >= 0, "at least 0", static_cast<double>(count));
  check_range("sample", "low", scale.low >= 0 && scale.low <= scale.high, fmt::format("in [0, {}]", scale.high),
              scale.low);
  check_range("sample", "high", std::isfinite(scale.high), "finite", scale.high);
  check_range("sample", "batch", scale.batch >= 1, "at least 1", static_cast<double>(scale.batch));
  const auto device = model.mean.device();
  // One random stream each, so that the batch of the scale does not change the latent vectors and the noise.
  const auto draw = [&](const char* purpose) { return DrawOptions{derive_seed(seed, purpose), 0, device}; };
  const auto there = [](const torch::Tensor& tensor) { return tensor.to(torch::kFloat32); };
  const int64_t batches = (count + scale.batch - 1) / scale.batch;
  const auto uniform = uniform_draws(batches, 1, draw("scale"));
  const auto spread = (uniform * (scale.high - scale.low) + scale.low).sqrt();
  const auto each = spread.expand({batches, scale.batch}).reshape({-1, 1}).slice(0, 0, count);
  const auto latent = normal_draws(count, model.loading.size(1), draw("latent"));
  const auto noise = normal_draws(count, model.mean.size(0), draw("noise"));
  return latent.matmul(there(model.loading).t())
      .add_(noise.mul_(there(model.noise.sqrt())))
      .mul_(each)
      .add_(there(model.mean));
}

torch::Tensor squash(const torch::Tensor& samples, Squash how) {
  check_floating("squash", "samples", samples);
  return how == Squash::kTanh ? samples.tanh() : samples.clamp(-1, 1);
}

torch::Tensor sample_images(const FactorAnalysis& model, int64_t count, const ImageShape& shape,
                            const SampleImagesOptions& options) {
  const int64_t pixels = shape.channels * shape.height * shape.width;
  check_range("sample_images", "the number of pixels", pixels == model.mean.size(0),
              fmt::format("the model's {}", model.mean.size(0)), static_cast<double>(pixels));
  const auto unit = squash(sample(model, count, options.scale, options.seed), options.squash);
  return unit.add_(1).mul_(127.5).round_().to(torch::kUInt8).view({count, shape.channels, shape.height, shape.width});
}

}  // namespace priornet
