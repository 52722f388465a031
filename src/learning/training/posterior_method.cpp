#include <limits>

#include "learning/training/method_list.h"

// Posterior networks (Charpentier et al., 2020): the expected cross-entropy under the Dirichlet, and a little of its
// entropy, from labels alone. Evidence comes from densities (model.density, model.prior = 1), so that there is none far
// from the training data. docs/math.md, section 5.

namespace priornet {
namespace {

constexpr Setting kEntropyWeight = {"entropy_weight", 1e-5, at_least(0),
                                    "of the entropy of the Dirichlet, which it raises"};

/// a psi'(a) of alpha = exp(logits), float64: 1 where a is large, 1 / a where it is small; psi'(a) itself overflows
/// there.
torch::Tensor scaled_trigamma(const torch::Tensor& alpha) {
  return alpha.reciprocal() + alpha * torch::polygamma(1, alpha + 1.0);
}

class Posterior final : public Method {
 public:
  explicit Posterior(const SettingValues& settings) : entropy_weight_(settings.at(kEntropyWeight.key)) {}

  LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const override {
    const auto inside = targets.labels.size(0);
    const auto known = logits.slice(0, 0, inside);
    auto result = no_loss(logits);
    if (inside == 0) return result;
    auto gradient = result.gradient.slice(0, 0, inside);

    // The mean over rows of sum_k y_k [psi(alpha0) - psi(alpha_k)]. float64 holds e^700.
    const auto exact = known.to(torch::kFloat64).clamp(-700.0, 700.0);
    const auto alpha = exact.exp(), whole = torch::logsumexp(exact, 1, true).exp();
    const auto wanted = targets.teacher.defined()
                            ? targets.teacher.slice(0, 0, inside).to(torch::kFloat64)
                            : torch::zeros_like(exact).scatter_(1, targets.labels.unsqueeze(1), 1.0);
    const auto expected = torch::digamma(whole).squeeze(1) - (wanted * torch::digamma(alpha)).sum(1);
    const auto slope = torch::softmax(exact, 1) * scaled_trigamma(whole) - wanted * scaled_trigamma(alpha);
    gradient.copy_(slope.div(static_cast<double>(inside)).clamp(-steepest, steepest));
    result.loss.total = expected.mean().to(logits.scalar_type());

    // Less entropy means more divergence from the flat Dirichlet.
    if (entropy_weight_ > 0.0) {
      PriorNetworkLossOptions options;
      options.divergence = Divergence::kReverse;
      options.out_weight = entropy_weight_;
      options.steepest = steepest;
      const auto flat = prior_network_gradient(known, targets.labels.slice(0, 0, 0), options);
      result.loss.in = flat.loss.out;
      result.loss.total = result.loss.total + flat.loss.total;
      gradient.add_(flat.gradient);
    }
    gradient.clamp_(-steepest, steepest);
    constexpr double kLargest = std::numeric_limits<float>::max();  // of a label without evidence
    result.loss.total = result.loss.total.clamp(-kLargest, kLargest);
    return result;
  }

 private:
  double entropy_weight_;
};

}  // namespace

MethodInfo posterior_method() {
  return {.name = "posterior",
          .summary =
              "the expected cross-entropy, less some entropy (Charpentier et al., 2020); wants model.density and "
              "model.prior",
          .settings = {kEntropyWeight},
          .needs_outside = false,
          .make = made<Posterior>};
}

}  // namespace priornet
