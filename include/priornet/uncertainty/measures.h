#pragma once

#include <torch/types.h>

// Uncertainty measures of Dirichlet distributions; notation as in docs/math.md, section 2.
// Every function takes logits [N, K], K >= 2 (float32 or float64, CPU or CUDA), alpha = exp(logits), and returns
// [N] in nats unless said otherwise, same dtype and device, differentiable in logits (once; a second derivative throws
// ArgumentError).
// Nothing overflows: a value beyond the range of the dtype is its largest finite number.
// A wrong shape or dtype throws ArgumentError. Values are not checked: a NaN in gives a NaN out.

namespace priornet {

/// All measures of a row, from one fused pass.
struct DirichletMeasures {
  torch::Tensor prediction;            ///< int64: the class of the largest logit, the first of equals
  torch::Tensor max_prob;              ///< probability of that class: a confidence, not an uncertainty
  torch::Tensor entropy;               ///< H[E p(y|mu)]: total uncertainty
  torch::Tensor expected_entropy;      ///< E H[p(y|mu)]: data uncertainty
  torch::Tensor mutual_information;    ///< I[y, mu] = entropy - expected_entropy: distributional uncertainty
  torch::Tensor differential_entropy;  ///< H[p(mu)]: distributional uncertainty
  torch::Tensor precision;             ///< alpha0 = sum of alpha: a confidence
  torch::Tensor expected_pairwise_kl;  ///< E KL of two categoricals drawn from it: distributional uncertainty
  torch::Tensor epistemic_variance;    ///< variance of mu, summed over classes: distributional uncertainty
  torch::Tensor aleatoric_variance;    ///< E of the variance of y given mu, summed likewise: data uncertainty
};
DirichletMeasures dirichlet_measures(const torch::Tensor& logits);

/// The mean of the Dirichlet, alpha / alpha0, [N, K]: softmax of the logits.
torch::Tensor expected_categorical(const torch::Tensor& logits);

/// The largest probability of the expected categorical.
torch::Tensor max_probability(const torch::Tensor& logits);

/// Entropy of the expected categorical: at most ln K.
torch::Tensor entropy(const torch::Tensor& logits);

/// Expected entropy of a categorical drawn from the Dirichlet.
torch::Tensor expected_entropy(const torch::Tensor& logits);

/// Mutual information of the label and the categorical: what knowing the categorical would tell.
torch::Tensor mutual_information(const torch::Tensor& logits);

/// Entropy of the density on the simplex: at most -ln Gamma(K), where the Dirichlet is flat.
torch::Tensor differential_entropy(const torch::Tensor& logits);

/// alpha0, the sum of the concentrations.
torch::Tensor precision(const torch::Tensor& logits);

}  // namespace priornet
