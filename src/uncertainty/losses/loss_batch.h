#pragma once

#include <priornet/uncertainty/losses.h>

#include <limits>

#include "uncertainty/losses/loss_row.h"

// The losses of rows and of batches with their gradients, on the logits' device: losses.h puts them into a graph.

namespace priornet {

/// Rows with one kind of target, and where their results go. Undefined tensors are left out; all others are contiguous.
struct LossPart {
  torch::Tensor logits;
  RowDivergence divergence;
  DirichletTarget target;
  torch::Tensor labels;  ///< of the cross-entropy
  RowWeights weights;    ///< in the gradient
  torch::Tensor divergences;
  torch::Tensor cross_entropies;
  torch::Tensor gradient;
};

void compute_losses(const LossPart& part);

struct BatchLossOptions {
  RowDivergence divergence;
  DirichletTarget target;  ///< for the first rows, one per label or row of probabilities; for the others it is flat
  torch::Tensor labels;    ///< of the cross-entropy of the first rows, or undefined
  double in_weight, out_weight, cross_entropy_weight;
  double steepest = std::numeric_limits<double>::infinity();  ///< the largest element of the gradient, either way
};

/// Scalars of the logits' type: means over their rows, 0 if there are none, and their weighted sum.
struct BatchLoss {
  torch::Tensor total, in, out, cross_entropy;
  torch::Tensor gradient;  ///< of the total, shaped like the logits, where asked for
};

/// logits: contiguous, without a graph. On a GPU in two launches.
BatchLoss batch_loss(const torch::Tensor& logits, const BatchLossOptions& options, bool wants_gradient);

}  // namespace priornet
