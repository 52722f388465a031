#pragma once

#include <torch/types.h>

#include <cstdint>

namespace priornet {

/// KL[Dir(exp p) || Dir(exp q)] of each row, in nats: p_logits and q_logits [N, K] of the same dtype and device,
/// K >= 2; differentiable in both (once). Accurate also where one class dominates both (docs/math.md, section 3).
torch::Tensor kl_divergence(const torch::Tensor& p_logits, const torch::Tensor& q_logits);

// The density of a Dirichlet, logits [N, K] as in measures.h; log_mu has their dtype and device.

/// ln Dir(mu; exp logits) of each row, [N] for log_mu = ln mu [N, K], or [S, N] for S points per row [S, N, K]. It
/// takes logarithms, so a mu near a corner is no problem. Where a mu_c is 0 (ln mu_c = -inf), the density is 0 or
/// infinite (alpha_c above or below 1), and NaN if both meet. Differentiable in both (once).
torch::Tensor log_density(const torch::Tensor& logits, const torch::Tensor& log_mu);

/// The same for draws, log_mu [S, N, K] from sample_log, float64: as if each mu added up to 1 exactly, so that its
/// rounding, which log_density multiplies by alpha0, does not count (up to alpha0 = 1e26). Not differentiable.
torch::Tensor log_density_of_draws(const torch::Tensor& logits, const torch::Tensor& log_mu);

/// The categorical of the highest density, (alpha - 1) / (alpha0 - K), [N, K]. Where some alpha <= 1 there is no
/// mode inside the simplex: the row is NaN.
torch::Tensor dirichlet_mode(const torch::Tensor& logits);

struct SampleOptions {
  int64_t samples = 1;  ///< categoricals per row
  uint64_t seed = 0;    ///< the same seed gives the same draws, whatever the number of threads
};

/// ln mu with mu ~ Dir(exp logits), [samples, N, K] for logits [N, K]: in logs, because with small alpha most of mu
/// underflows. Not differentiable. A row with a NaN gives NaN.
torch::Tensor sample_log(const torch::Tensor& logits, const SampleOptions& options = {});

/// mu ~ Dir(exp logits), [samples, N, K].
torch::Tensor sample(const torch::Tensor& logits, const SampleOptions& options = {});

}  // namespace priornet
