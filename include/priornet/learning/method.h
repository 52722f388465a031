#pragma once

#include <priornet/uncertainty/losses.h>

#include <array>
#include <string_view>
#include <utility>

// What a network is trained for: the methods the paper compares, and their nearest relatives.

namespace priornet {

enum class Method {
  kDnn,              ///< cross-entropy
  kDpn,              ///< the paper's: forward KL to a sharp Dirichlet in distribution and to a flat one outside
  kDpnReverse,       ///< the same with the reverse KL (Malinin & Gales, 2019)
  kOutlierExposure,  ///< cross-entropy, and to the uniform categorical outside (Hendrycks et al., 2019)
  kDistil            ///< forward KL to the Dirichlet around a teacher's probabilities, and to a flat one outside
};

constexpr std::array<std::pair<std::string_view, Method>, 5> kMethodNames = {
    {{"dnn", Method::kDnn},
     {"dpn", Method::kDpn},
     {"dpn-reverse", Method::kDpnReverse},
     {"outlier-exposure", Method::kOutlierExposure},
     {"distil", Method::kDistil}}};

/// As configurations call it.
std::string_view method_name(Method method);

struct MethodOptions {
  Method method = Method::kDpn;
  double alpha0 = 1e3;                ///< precision of the target in distribution
  double epsilon = 1e-2;              ///< target probability of each class that is not the label
  double divergence_weight = 1.0;     ///< of the divergence in distribution
  double outside_weight = 1.0;        ///< of the loss outside
  double cross_entropy_weight = 0.0;  ///< beside the divergence in distribution
  double uniform_weight = 0.0;  ///< of the cross-entropy to the uniform categorical, beside the divergence outside
};

/// Whether the method is trained on out-of-distribution inputs as well.
bool needs_outside(Method method);

/// Whether the network's logits are those of a Dirichlet, alpha = exp(logits), and not only of a softmax.
bool gives_dirichlet(Method method);

/// What the first rows of a batch are held to: int64 labels [N], or a teacher's probabilities [N, K] for kDistil.
struct BatchTargets {
  torch::Tensor labels;
  torch::Tensor teacher;
};

/// The loss of one batch of logits [N + M, K]: the first N rows are in distribution, the other M outside.
/// Parts that a method does not have are 0.
PriorNetworkLoss method_loss(const torch::Tensor& logits, const BatchTargets& targets, const MethodOptions& options);

/// The same without a graph, with the gradient in the logits, its elements held to [-steepest, steepest].
LossWithGradient method_gradient(const torch::Tensor& logits, const BatchTargets& targets, const MethodOptions& options,
                                 double steepest);

}  // namespace priornet
