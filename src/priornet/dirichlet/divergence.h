#pragma once

#include <torch/types.h>

namespace priornet {

/// KL[Dir(exp p) || Dir(exp q)] of each row, in nats: p_logits and q_logits [N, K] of one dtype and device,
/// K >= 2; differentiable in both (once). Accurate also where one class dominates both (docs/math.md, section 3).
torch::Tensor kl_divergence(const torch::Tensor& p_logits, const torch::Tensor& q_logits);

}  // namespace priornet
