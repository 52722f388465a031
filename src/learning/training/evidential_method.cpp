#include <cmath>

#include "learning/training/method_list.h"
#include "uncertainty/core/checks.h"

// Evidential learning (Sensoy et al., 2018): a network that counts evidence for each class (model.prior = 1) learns
// from labels alone to expect few errors, and to have no evidence for a wrong class. Relaxed (Chen et al., 2024): a
// smaller prior, and variance_weight = 0. docs/math.md, section 5.

namespace priornet {
namespace {

constexpr Setting kVarianceWeight = {"variance_weight", 1.0, at_least(0),
                                     "weight of the variance of the categorical, beside its squared error"};

class Evidential final : public Method {
 public:
  explicit Evidential(const SettingValues& settings)
      : divergence_weight_(settings.at(kDivergenceWeight.key)), variance_weight_(settings.at(kVarianceWeight.key)) {}

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    check_range("evidential", "prior", targets.prior > 0.0 && std::isfinite(targets.prior), "positive and finite",
                targets.prior);
    const auto inside = targets.labels.size(0);
    const auto known = logits.slice(0, 0, inside);
    const auto label = targets.labels.unsqueeze(1);
    auto result = no_loss(logits);
    if (inside == 0) return result;
    auto gradient = result.gradient.slice(0, 0, inside);

    // The mean over rows of sum_k (y_k - p_k)^2 + w p_k (1 - p_k) / (alpha0 + 1).
    const auto wanted = targets.teacher.defined() ? targets.teacher.slice(0, 0, inside)
                                                  : torch::zeros_like(known).scatter_(1, label, 1.0);
    const auto mean = torch::softmax(known, 1);
    const auto miss = mean - wanted;
    const auto squares = mean.square().sum(1, true);
    const auto shrink = torch::sigmoid(-torch::logsumexp(known, 1, true));  // 1 / (alpha0 + 1)
    const auto expected_error = miss.square().sum(1) + variance_weight_ * ((1.0 - squares) * shrink).squeeze(1);
    const auto slope_of_variance = 2.0 * (mean - squares) * shrink + (1.0 - squares) * shrink * (1.0 - shrink);
    gradient.copy_(mean * (2.0 * (miss - (mean * miss).sum(1, true)) - variance_weight_ * slope_of_variance));
    gradient.div_(static_cast<double>(inside));
    result.loss.total = expected_error.mean();

    // Without its evidence for the label, the Dirichlet should be the prior alone. Labels that are smoothed until all
    // classes are equal are that target.
    if (divergence_weight_ > 0.0) {
      const auto classes = static_cast<double>(logits.size(1));
      PriorNetworkLossOptions options;
      options.divergence = Divergence::kReverse;
      options.target = {classes * targets.prior, 1.0 / classes};
      options.in_weight = divergence_weight_;
      options.steepest = steepest;
      const auto misleading =
          prior_network_gradient(known.scatter(1, label, std::log(targets.prior)), targets.labels, options);
      result.loss.in = misleading.loss.in;
      result.loss.total = result.loss.total + misleading.loss.total;
      gradient.add_(misleading.gradient.scatter(1, label, 0.0));
    }
    gradient.clamp_(-steepest, steepest);
    return result;
  }

 private:
  double divergence_weight_, variance_weight_;
};

}  // namespace

MethodInfo evidential_method() {
  return {
      .name = "evidential",
      .summary = "expected squared error, and no evidence for wrong classes (Sensoy et al., 2018); needs model.prior",
      .settings = {kDivergenceWeight, kVarianceWeight},
      .needs_outside = false,
      .takes_prior = true,
      .make = made<Evidential>};
}

}  // namespace priornet
