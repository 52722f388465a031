#pragma once

#include <priornet/losses/targets.h>

// Losses of logits [N, K], K >= 2 (float32 or float64, CPU or CUDA), alpha = exp(logits). Each returns [N] in nats,
// differentiable in logits (once): value and gradient come from one fused pass, not from a graph over special
// functions.

namespace priornet {

/// KL[target || Dir(alpha)]: the paper's loss.
torch::Tensor forward_kl(const torch::Tensor& logits, const DirichletTarget& target);

/// KL[Dir(alpha) || target].
torch::Tensor reverse_kl(const torch::Tensor& logits, const DirichletTarget& target);

/// -ln p(label) under the expected categorical. labels: int64 [N].
torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels);

enum class Divergence { kForward, kReverse };

struct PriorNetworkLossOptions {
  Divergence divergence = Divergence::kForward;
  SmoothingOptions target;            ///< of the in-distribution rows; the out-of-distribution target is flat
  double in_weight = 1.0;             ///< of the divergence on in-distribution rows
  double out_weight = 1.0;            ///< of the divergence on out-of-distribution rows
  double cross_entropy_weight = 0.0;  ///< of the cross-entropy on in-distribution rows
};

struct PriorNetworkLoss {
  torch::Tensor total;          ///< scalar, differentiable
  torch::Tensor in;             ///< mean divergence on the in-distribution rows, unweighted, detached
  torch::Tensor out;            ///< mean divergence on the out-of-distribution rows, unweighted, detached
  torch::Tensor cross_entropy;  ///< mean cross-entropy of the in-distribution rows, unweighted, detached
};

/// The multi-task loss of one batch: the first labels.size(0) rows are in-distribution, the others out of it.
/// Either part may be empty; its mean is then 0.
PriorNetworkLoss prior_network_loss(const torch::Tensor& logits, const torch::Tensor& labels,
                                    const PriorNetworkLossOptions& options = {});

}  // namespace priornet
