#pragma once

#include <priornet/uncertainty/measures.h>
#include <torch/types.h>

#include <vector>

// The measures of a batch and their gradient, where the logits lie, without a graph: what measures.h puts into one.

namespace priornet {

/// Logits [N, K], checked. The measures in the order of the kernels, [N] each, and the prediction behind them.
std::vector<torch::Tensor> batch_measures(const torch::Tensor& logits);

/// The gradient [N, K] of the sum over rows and measures of weight times measure. weights: [N] each, in the order of
/// the kernels; one that is undefined is 0, and what stands behind the measures counts for nothing.
torch::Tensor batch_measures_gradient(const torch::Tensor& logits, std::vector<torch::Tensor> weights);

/// What batch_measures gives, by names.
DirichletMeasures named_measures(const std::vector<torch::Tensor>& in_order);

}  // namespace priornet
