#pragma once

#include <priornet/uncertainty/measures.h>
#include <torch/types.h>

#include <cstdint>

// Measures of ensembles: logits [M, N, K] of M >= 1 members, K >= 2 classes; results [N] in nats, as in measures.h.
// Derivations: docs/math.md, section 4.

namespace priornet {

/// Of one softmax model, logits [N, K].
struct SoftmaxMeasures {
  torch::Tensor prediction;  ///< int64
  torch::Tensor max_prob;
  torch::Tensor entropy;
};
SoftmaxMeasures softmax_measures(const torch::Tensor& logits);

/// Of an ensemble of softmax members.
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

/// Of an ensemble of Dirichlets: data, distributional and model uncertainty apart. Of the measures of one Dirichlet,
/// prediction, max_prob and entropy are those of the mean over members, mutual_information = I[y, mu] =
/// entropy - expected_entropy with theta averaged out; the others are means over members.
struct DirichletEnsembleMeasures : DirichletMeasures {
  torch::Tensor mutual_information_y_theta;           ///< I[y, theta]: the part of I[y, mu] that is model uncertainty
  torch::Tensor epkl;                                 ///< expected pairwise KL of the members: bounds I[mu, theta]
  torch::Tensor mutual_information_mu_theta;          ///< I[mu, theta]: model uncertainty; Monte-Carlo estimate
  torch::Tensor mutual_information_mu_theta_std_err;  ///< its standard error
};
DirichletEnsembleMeasures dirichlet_ensemble_measures(const torch::Tensor& logits, const MuThetaOptions& options = {});

}  // namespace priornet
