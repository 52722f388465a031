#pragma once

#include <torch/types.h>

#include <cstdint>

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

/// Mutual information of the label and the categorical: how much knowing the categorical tells about the label.
torch::Tensor mutual_information(const torch::Tensor& logits);

/// Entropy of the density on the simplex: at most -ln Gamma(K), where the Dirichlet is flat.
torch::Tensor differential_entropy(const torch::Tensor& logits);

/// alpha0, the sum of the concentrations.
torch::Tensor precision(const torch::Tensor& logits);

// For ensembles: logits [M, N, K] of M >= 1 members, K >= 2 classes; results [N] in nats, as above.
// Derivations: docs/math.md, section 4.

/// For one softmax model, logits [N, K].
struct SoftmaxMeasures {
  torch::Tensor prediction;  ///< int64
  torch::Tensor max_prob;
  torch::Tensor entropy;
};
SoftmaxMeasures softmax_measures(const torch::Tensor& logits);

/// For an ensemble of softmax members.
struct EnsembleMeasures {
  torch::Tensor prediction;          ///< int64: the most probable class of the mean
  torch::Tensor max_prob;            ///< its probability under the mean
  torch::Tensor entropy;             ///< of the mean: total uncertainty
  torch::Tensor expected_entropy;    ///< mean of the members' entropies: data uncertainty
  torch::Tensor mutual_information;  ///< I[y, theta]: model uncertainty
};
EnsembleMeasures ensemble_measures(const torch::Tensor& logits);

/// How I[mu, theta] is estimated: it has no closed form.
struct MuThetaOptions {
  int64_t samples = 64;  ///< categoricals drawn from each member, at least 2; 0: it is left out, its tensors undefined
  uint64_t seed = 0;
};

/// For an ensemble of Dirichlets: data, distributional and model uncertainty apart. Of the measures of one Dirichlet,
/// prediction, max_prob and entropy are those of the mean over members, mutual_information = I[y, mu] = entropy -
/// expected_entropy with theta averaged out; the others are means over members.
struct DirichletEnsembleMeasures : DirichletMeasures {
  torch::Tensor mutual_information_y_theta;           ///< I[y, theta]: the part of I[y, mu] that is model uncertainty
  torch::Tensor epkl;                                 ///< expected pairwise KL of the members: bounds I[mu, theta]
  torch::Tensor mutual_information_mu_theta;          ///< I[mu, theta]: model uncertainty; Monte-Carlo estimate
  torch::Tensor mutual_information_mu_theta_std_err;  ///< its standard error
};
DirichletEnsembleMeasures dirichlet_ensemble_measures(const torch::Tensor& logits, const MuThetaOptions& options = {});

}  // namespace priornet
