#pragma once

#include <priornet/uncertainty/measures.h>
#include <torch/types.h>

#include <vector>

// The measures of a batch and their gradient, on the logits' device, without a graph: measures.h puts them into one.

namespace priornet {

/// Logits [N, K], already checked. The measures in the order of the kernels, [N] each, then the prediction.
std::vector<torch::Tensor> batch_measures(const torch::Tensor& logits);

/// The gradient [N, K] of the sum over rows and measures of weight times measure. weights: [N] each, in the order of
/// the kernels; an undefined one counts as 0, and weights after those of the measures are ignored.
torch::Tensor batch_measures_gradient(const torch::Tensor& logits, std::vector<torch::Tensor> weights);

/// The results of batch_measures, by name.
DirichletMeasures named_measures(const std::vector<torch::Tensor>& in_order);

}  // namespace priornet
