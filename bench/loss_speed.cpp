#include <torch/csrc/autograd/autograd.h>

#include "plain_losses.h"
#include "timing.h"

namespace priornet::bench {
namespace {

/// KL[Dir(p) || Dir(q)] by its textbook formula.
torch::Tensor plain_kl(const torch::Tensor& p, const torch::Tensor& q) {
  const auto p0 = p.sum(1, true);
  return (torch::lgamma(p0) - torch::lgamma(q.sum(1, true))).squeeze(1) +
         (torch::lgamma(q) - torch::lgamma(p) + (p - q) * (torch::digamma(p) - torch::digamma(p0))).sum(1);
}

}  // namespace

torch::Tensor plain_prior_network_loss(const torch::Tensor& logits, const torch::Tensor& labels,
                                       const PriorNetworkLossOptions& options) {
  const auto alpha = logits.exp();
  const int64_t in = labels.size(0);
  const auto target =
      DirichletTarget::smoothed_labels(labels, options.target).concentrations(logits.detach().slice(0, 0, in));
  const auto flat = torch::ones_like(logits.detach().slice(0, in));
  const auto divergence = [&](const torch::Tensor& wanted, const torch::Tensor& found) {
    return options.divergence == Divergence::kForward ? plain_kl(wanted, found) : plain_kl(found, wanted);
  };
  return divergence(target, alpha.slice(0, 0, in)).mean() + divergence(flat, alpha.slice(0, in)).mean();
}

void compare_losses(const Options& options, const Report& report) {
  for (const auto& [divergence, name] :
       {std::pair{Divergence::kForward, "forward KL + gradient"}, {Divergence::kReverse, "reverse KL + gradient"}}) {
    for (const int64_t classes : options.classes) {
      const auto logits = example_logits(classes, torch::kFloat32, options.device).requires_grad_();
      const auto labels = torch::randint(classes, {logits.size(0) / 2}, torch::kInt64).to(options.device);
      PriorNetworkLossOptions loss;
      loss.divergence = divergence;
      loss.target.epsilon = 0.1 / static_cast<double>(classes);
      with_thread_counts(options.device, [&, name = name](int threads) {
        report(compare(
            {name, "float32", classes, threads, 0, 0}, logits.size(0), options,
            [&] { torch::autograd::grad({prior_network_loss(logits, labels, loss).total}, {logits}); },
            [&] { torch::autograd::grad({plain_prior_network_loss(logits, labels, loss)}, {logits}); }));
      });
    }
  }
}

}  // namespace priornet::bench
