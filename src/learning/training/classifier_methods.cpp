#include <torch/csrc/autograd/autograd.h>

#include "learning/training/method_list.h"

// Methods whose networks are classifiers, with the logits of a softmax.

namespace priornet {
namespace {

class CrossEntropy final : public Method {
 public:
  explicit CrossEntropy(const SettingValues&) {}

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    return cross_entropy_gradient(logits, targets.labels, steepest);
  }
};

/// Cross-entropy, plus outside_weight times that to the uniform categorical, -(1 / K) sum_c ln p_c, outside.
class OutlierExposure final : public Method {
 public:
  explicit OutlierExposure(const SettingValues& settings) : outside_weight_(settings.at(kOutsideWeight.key)) {}

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    const auto rows = targets.labels.size(0);
    const auto leaf = logits.detach().requires_grad_();
    auto total = cross_entropy(leaf.narrow(0, 0, rows), targets.labels).mean();
    const auto zero = torch::zeros({}, logits.options());
    PriorNetworkLoss parts{{}, zero, zero, total.detach()};
    if (logits.size(0) > rows) {
      const auto outside = -torch::log_softmax(leaf.narrow(0, rows, logits.size(0) - rows), 1).mean();
      parts.out = outside.detach();
      total = total + outside_weight_ * outside;
    }
    const auto gradient = torch::autograd::grad({total}, {leaf})[0];
    parts.total = total.detach();
    return {parts, gradient.clamp(-steepest, steepest)};
  }

 private:
  double outside_weight_;
};

}  // namespace

MethodInfo dnn_method() {
  return {.name = "dnn",
          .summary = "cross-entropy",
          .settings = {},
          .needs_outside = false,
          .gives_dirichlet = false,
          .make = made<CrossEntropy>};
}

MethodInfo outlier_exposure_method() {
  return {.name = "outlier-exposure",
          .summary = "cross-entropy, and to the uniform categorical outside (Hendrycks et al., 2019)",
          .settings = {kOutsideWeight},
          .gives_dirichlet = false,
          .make = made<OutlierExposure>};
}

}  // namespace priornet
