#pragma once

#include <priornet/uncertainty/losses.h>

namespace priornet::bench {

/// The multi-task loss by the textbook formulas of LibTorch.
torch::Tensor plain_prior_network_loss(const torch::Tensor& logits, const torch::Tensor& labels,
                                       const PriorNetworkLossOptions& options);

}  // namespace priornet::bench
