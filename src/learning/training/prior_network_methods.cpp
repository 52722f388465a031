#include "learning/training/method_list.h"

// The paper's method, its reverse, and the one with a teacher's target: a sharp Dirichlet in distribution, a flat one
// outside.

namespace priornet {
namespace {

constexpr Setting kEpsilon = {
    "epsilon", 1e-2, {0, 1, false, false}, "target probability of each class that is not the label"};
constexpr Setting kCrossEntropyWeight = {"cross_entropy_weight", 0.0, at_least(0),
                                         "weight of the cross-entropy, beside the divergence in distribution"};
constexpr Setting kUniformWeight = {"uniform_weight", 0.0, at_least(0),
                                    "weight of the cross-entropy to equal probabilities, or to the teacher's, beside "
                                    "the divergence out of distribution"};

template <Divergence divergence>
class PriorNetwork final : public Method {
 public:
  explicit PriorNetwork(const SettingValues& settings) : uniform_weight_(settings.at(kUniformWeight.key)) {
    options_.divergence = divergence;
    options_.target = {settings.at(kAlpha0.key), settings.at(kEpsilon.key)};
    options_.in_weight = settings.at(kDivergenceWeight.key);
    options_.out_weight = settings.at(kOutsideWeight.key);
    options_.cross_entropy_weight = settings.at(kCrossEntropyWeight.key);
  }

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    auto options = options_;
    options.steepest = steepest;
    const auto inside = targets.labels.size(0);
    const bool taught = targets.teacher.defined();
    if (taught) options.cross_entropy_weight = 0.0;  // the teacher's is used
    auto result = prior_network_gradient(logits, targets.labels, options);
    if (taught && options_.cross_entropy_weight > 0.0)
      add_cross_entropy(result, logits.slice(0, 0, inside), 0, targets.teacher.slice(0, 0, inside),
                        options_.cross_entropy_weight, steepest);
    if (uniform_weight_ > 0.0 && logits.size(0) > inside)
      add_cross_entropy(result, logits.slice(0, inside), inside,
                        taught ? targets.teacher.slice(0, inside) : equal_probabilities(logits), uniform_weight_,
                        steepest);
    return result;
  }

 private:
  PriorNetworkLossOptions options_;
  double uniform_weight_;
};

class Distillation final : public Method {
 public:
  explicit Distillation(const SettingValues& settings)
      : options_{settings.at(kAlpha0.key), settings.at(kDivergenceWeight.key), settings.at(kOutsideWeight.key)} {}

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    auto options = options_;
    options.steepest = steepest;
    // Without labels, only the teacher's in-distribution probabilities are given.
    const auto inside = targets.labels.defined() ? targets.labels.size(0) : targets.teacher.size(0);
    return distillation_gradient(logits, targets.teacher.slice(0, 0, inside), options);
  }

 private:
  DistillationOptions options_;
};

std::vector<Setting> settings() {
  return {kAlpha0, kEpsilon, kDivergenceWeight, kOutsideWeight, kCrossEntropyWeight, kUniformWeight};
}

}  // namespace

MethodInfo dpn_method() {
  return {
      .name = "dpn",
      .summary = "the paper's: forward KL to a sharp Dirichlet in distribution and to a flat one out of distribution",
      .settings = settings(),
      .make = made<PriorNetwork<Divergence::kForward>>};
}

MethodInfo dpn_reverse_method() {
  return {.name = "dpn-reverse",
          .summary = "the same with the reverse KL (Malinin & Gales, 2019)",
          .settings = settings(),
          .make = made<PriorNetwork<Divergence::kReverse>>};
}

MethodInfo distil_method() {
  return {
      .name = "distil",
      .summary = "forward KL to the Dirichlet around a teacher's probabilities, and to a flat one out of distribution",
      .settings = {kAlpha0, kDivergenceWeight, kOutsideWeight},
      .needs_teacher = true,
      .make = made<Distillation>};
}

}  // namespace priornet
