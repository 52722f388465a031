#include "learning/training/method_list.h"

namespace priornet {
namespace {

class Distillation final : public Method {
 public:
  explicit Distillation(const SettingValues& settings)
      : options_{settings.at(kAlpha0.key), settings.at(kDivergenceWeight.key), settings.at(kOutsideWeight.key)} {}

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    auto options = options_;
    options.steepest = steepest;
    // Who has no labels hands over the teacher's probabilities in distribution alone.
    const auto inside = targets.labels.defined() ? targets.labels.size(0) : targets.teacher.size(0);
    return distillation_gradient(logits, targets.teacher.slice(0, 0, inside), options);
  }

 private:
  DistillationOptions options_;
};

}  // namespace

MethodInfo distil_method() {
  return {.name = "distil",
          .summary = "forward KL to the Dirichlet around a teacher's probabilities, and to a flat one outside",
          .settings = {kAlpha0, kDivergenceWeight, kOutsideWeight},
          .needs_teacher = true,
          .make = made<Distillation>};
}

}  // namespace priornet
