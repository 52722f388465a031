#include "learning/training/method_list.h"

// Methods whose networks are classifiers, with the logits of a softmax.

namespace priornet {
namespace {

/// Cross-entropy to the labels, or to a teacher's probabilities for the same inputs.
LossWithGradient classification_loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) {
  const auto inside = targets.labels.size(0);
  auto result = no_loss(logits);
  const auto known = logits.slice(0, 0, inside);
  if (targets.teacher.defined()) {
    result.loss.cross_entropy = add_cross_entropy(result, known, 0, targets.teacher.slice(0, 0, inside), 1.0, steepest);
    return result;
  }
  const auto labelled = cross_entropy_gradient(known, targets.labels, steepest);
  if (logits.size(0) == inside) return labelled;
  result.loss = labelled.loss;
  result.gradient.slice(0, 0, inside).copy_(labelled.gradient);
  return result;
}

class CrossEntropy final : public Method {
 public:
  explicit CrossEntropy(const SettingValues&) {}

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    return classification_loss(logits, targets, steepest);
  }
};

/// Cross-entropy, plus outside_weight times that to the uniform categorical, -(1 / K) sum_c ln p_c, outside.
class OutlierExposure final : public Method {
 public:
  explicit OutlierExposure(const SettingValues& settings) : outside_weight_(settings.at(kOutsideWeight.key)) {}

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    auto result = classification_loss(logits, targets, steepest);
    const auto inside = targets.labels.size(0);
    if (logits.size(0) > inside)
      result.loss.out =
          add_cross_entropy(result, logits.slice(0, inside), inside,
                            targets.teacher.defined() ? targets.teacher.slice(0, inside) : equal_probabilities(logits),
                            outside_weight_, steepest);
    return result;
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
  return {
      .name = "outlier-exposure",
      .summary =
          "cross-entropy; for out-of-distribution inputs cross-entropy to equal probabilities (Hendrycks et al., 2019)",
      .settings = {kOutsideWeight},
      .gives_dirichlet = false,
      .make = made<OutlierExposure>};
}

}  // namespace priornet
