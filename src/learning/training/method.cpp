#include <priornet/learning/method.h>

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

namespace priornet {
namespace {

PriorNetworkLoss empty_loss(const torch::Tensor& logits) {
  const auto zero = torch::zeros({}, logits.options().requires_grad(false));
  return {zero, zero, zero, zero};
}

// To the uniform categorical, -(1 / K) sum_c ln p_c.
torch::Tensor uniform_cross_entropy(const torch::Tensor& logits) { return -torch::log_softmax(logits, 1).mean(); }

PriorNetworkLoss classifier_loss(const torch::Tensor& logits, const torch::Tensor& labels,
                                 const MethodOptions& options) {
  auto loss = empty_loss(logits);
  const auto rows = labels.size(0);
  loss.total = cross_entropy(logits.narrow(0, 0, rows), labels).mean();
  loss.cross_entropy = loss.total.detach();
  if (options.method == Method::kDnn || logits.size(0) == rows) return loss;
  const auto outside = uniform_cross_entropy(logits.narrow(0, rows, logits.size(0) - rows));
  loss.out = outside.detach();
  loss.total = loss.total + options.outside_weight * outside;
  return loss;
}

PriorNetworkLoss distillation_loss(const torch::Tensor& logits, const torch::Tensor& teacher,
                                   const MethodOptions& options) {
  auto loss = empty_loss(logits);
  const auto rows = teacher.size(0);
  const auto inside = forward_kl(logits.narrow(0, 0, rows), DirichletTarget::teacher(teacher, options.alpha0)).mean();
  loss.in = inside.detach();
  loss.total = options.divergence_weight * inside;
  if (logits.size(0) == rows) return loss;
  const auto outside = forward_kl(logits.narrow(0, rows, logits.size(0) - rows), DirichletTarget::flat()).mean();
  loss.out = outside.detach();
  loss.total = loss.total + options.outside_weight * outside;
  return loss;
}

PriorNetworkLossOptions loss_options(const MethodOptions& options) {
  PriorNetworkLossOptions loss;
  loss.divergence = options.method == Method::kDpnReverse ? Divergence::kReverse : Divergence::kForward;
  loss.target = {options.alpha0, options.epsilon};
  loss.in_weight = options.divergence_weight;
  loss.out_weight = options.outside_weight;
  loss.cross_entropy_weight = options.cross_entropy_weight;
  return loss;
}

// The rows outside, where a DPN is held to the uniform categorical there too; else none.
torch::Tensor rows_held_to_uniform(const torch::Tensor& logits, const torch::Tensor& labels,
                                   const MethodOptions& options) {
  const auto inside = labels.size(0);
  return logits.slice(0, options.uniform_weight > 0.0 ? inside : logits.size(0));
}

PriorNetworkLoss dpn_loss(const torch::Tensor& logits, const torch::Tensor& labels, const MethodOptions& options) {
  auto loss = prior_network_loss(logits, labels, loss_options(options));
  if (const auto outside = rows_held_to_uniform(logits, labels, options); outside.size(0) > 0)
    loss.total = loss.total + options.uniform_weight * uniform_cross_entropy(outside);
  return loss;
}

LossWithGradient dpn_gradient(const torch::Tensor& logits, const torch::Tensor& labels, const MethodOptions& options,
                              double steepest) {
  auto with = loss_options(options);
  with.steepest = steepest;
  auto result = prior_network_gradient(logits, labels, with);
  const auto outside = rows_held_to_uniform(logits, labels, options);
  if (outside.size(0) == 0) return result;
  const auto log_probabilities = torch::log_softmax(outside, 1);
  const auto share = options.uniform_weight / static_cast<double>(outside.size(0));
  const auto uniform = 1.0 / static_cast<double>(outside.size(1));
  rows_held_to_uniform(result.gradient, labels, options).add_(log_probabilities.exp().sub_(uniform), share);
  result.loss.total = result.loss.total - options.uniform_weight * log_probabilities.mean();
  return result;
}

LossWithGradient gradient_by_graph(const torch::Tensor& logits, const BatchTargets& targets,
                                   const MethodOptions& options, double steepest) {
  const auto leaf = logits.detach().requires_grad_();
  auto loss = method_loss(leaf, targets, options);
  const auto gradient = torch::autograd::grad({loss.total}, {leaf})[0];
  loss.total = loss.total.detach();
  return {loss, gradient.clamp(-steepest, steepest)};
}

}  // namespace

std::string_view method_name(Method method) {
  return std::find_if(kMethodNames.begin(), kMethodNames.end(),
                      [&](const auto& named) { return named.second == method; })
      ->first;
}

bool needs_outside(Method method) { return method != Method::kDnn; }

bool gives_dirichlet(Method method) { return method != Method::kDnn && method != Method::kOutlierExposure; }

PriorNetworkLoss method_loss(const torch::Tensor& logits, const BatchTargets& targets, const MethodOptions& options) {
  switch (options.method) {
    case Method::kDnn:
    case Method::kOutlierExposure:
      return classifier_loss(logits, targets.labels, options);
    case Method::kDistil:
      return distillation_loss(logits, targets.teacher, options);
    case Method::kDpn:
    case Method::kDpnReverse:
      break;
  }
  return dpn_loss(logits, targets.labels, options);
}

LossWithGradient method_gradient(const torch::Tensor& logits, const BatchTargets& targets, const MethodOptions& options,
                                 double steepest) {
  switch (options.method) {
    case Method::kDnn:
      if (logits.size(0) == targets.labels.size(0)) return cross_entropy_gradient(logits, targets.labels, steepest);
      break;
    case Method::kDistil:
      return distillation_gradient(logits, targets.teacher,
                                   {options.alpha0, options.divergence_weight, options.outside_weight, steepest});
    case Method::kDpn:
    case Method::kDpnReverse:
      return dpn_gradient(logits, targets.labels, options, steepest);
    case Method::kOutlierExposure:
      break;
  }
  return gradient_by_graph(logits, targets, options, steepest);
}

}  // namespace priornet
