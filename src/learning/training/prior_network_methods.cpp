#include "learning/training/method_list.h"

// The paper's method and its reverse: a sharp Dirichlet in distribution, a flat one outside.

namespace priornet {
namespace {

constexpr Setting kEpsilon = {
    "epsilon", 1e-2, {0, 1, false, false}, "target probability of each class that is not the label"};
constexpr Setting kCrossEntropyWeight = {"cross_entropy_weight", 0.0, at_least(0),
                                         "of the cross-entropy, beside the divergence in distribution"};
constexpr Setting kUniformWeight = {"uniform_weight", 0.0, at_least(0),
                                    "of the cross-entropy to equal probabilities, beside the divergence outside"};

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
    auto result = prior_network_gradient(logits, targets.labels, options);
    const auto inside = targets.labels.size(0);
    if (uniform_weight_ == 0.0 || logits.size(0) == inside) return result;
    const auto log_probabilities = torch::log_softmax(logits.slice(0, inside), 1);
    const auto share = uniform_weight_ / static_cast<double>(log_probabilities.size(0));
    const auto uniform = 1.0 / static_cast<double>(logits.size(1));
    result.gradient.slice(0, inside).add_(log_probabilities.exp().sub_(uniform), share);
    result.loss.total = result.loss.total - uniform_weight_ * log_probabilities.mean();
    return result;
  }

 private:
  PriorNetworkLossOptions options_;
  double uniform_weight_;
};

std::vector<Setting> settings() {
  return {kAlpha0, kEpsilon, kDivergenceWeight, kOutsideWeight, kCrossEntropyWeight, kUniformWeight};
}

}  // namespace

MethodInfo dpn_method() {
  return {.name = "dpn",
          .summary = "the paper's: forward KL to a sharp Dirichlet in distribution and to a flat one outside",
          .settings = settings(),
          .make = made<PriorNetwork<Divergence::kForward>>};
}

MethodInfo dpn_reverse_method() {
  return {.name = "dpn-reverse",
          .summary = "the same with the reverse KL (Malinin & Gales, 2019)",
          .settings = settings(),
          .make = made<PriorNetwork<Divergence::kReverse>>};
}

}  // namespace priornet
