#pragma once

#include <torch/types.h>

// The density of a Dirichlet, logits [N, K] as in measures.h.

namespace priornet {

/// ln Dir(mu; exp logits) of each row, [N] for log_mu = ln mu [N, K], or [S, N] for S points a row [S, N, K]: taking
/// logarithms, a mu near a corner is no problem. Differentiable in both (once).
torch::Tensor log_density(const torch::Tensor& logits, const torch::Tensor& log_mu);

/// The same of draws, log_mu [S, N, K] from sample_log, float64: as if a mu added up to 1 exactly, so that its
/// rounding, which log_density multiplies by alpha0, does not count (up to alpha0 = 1e26). Not differentiable.
torch::Tensor log_density_of_draws(const torch::Tensor& logits, const torch::Tensor& log_mu);

/// The categorical of the highest density, (alpha - 1) / (alpha0 - K), [N, K]. Where some alpha <= 1 there is no
/// mode inside the simplex: the row is NaN.
torch::Tensor dirichlet_mode(const torch::Tensor& logits);

}  // namespace priornet
