#pragma once

#include <priornet/core/progress.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

// Factor analysis: x = mean + W z + e with z ~ N(0, I) of few dimensions L and e ~ N(0, diag(psi)), so that
// x ~ N(mean, W W' + diag(psi)). docs/math.md, section 7. What is out of range throws ArgumentError.

namespace priornet {

struct FactorAnalysisOptions {
  int64_t latent = 50;  ///< L, from 1 to D
  int64_t max_iterations = 1000;
  double tolerance = 1e-3;  ///< ends when an iteration gains less, in nats a sample
  /// The least noise variance, as a share of the mean variance of a dimension: a dimension that never changes (the
  /// border of a digit) would have an infinite likelihood.
  double noise_floor = 1e-6;
  uint64_t seed = 0;  ///< of the subspace iteration that EM starts from
};

/// float64, on the device of the data.
struct FactorAnalysis {
  torch::Tensor mean;                  ///< [D]
  torch::Tensor loading;               ///< W, [D, L]
  torch::Tensor noise;                 ///< psi, [D]
  std::vector<double> log_likelihood;  ///< average nats a sample: before the first iteration, then after each
};

/// The maximum-likelihood model of data [N, D], N >= 2, float32 or float64, by EM on the covariance, which is taken
/// once. Data that holds no number or does not vary at all throws ArgumentError.
FactorAnalysis fit_factor_analysis(const torch::Tensor& data, const FactorAnalysisOptions& options, Progress& progress);

/// ln N(x; mean, W W' + diag(psi)) of each row of data [N, D], float64 [N].
torch::Tensor log_density(const FactorAnalysis& model, const torch::Tensor& data);

}  // namespace priornet
