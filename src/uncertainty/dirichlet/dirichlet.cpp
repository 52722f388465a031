#include <priornet/uncertainty/dirichlet.h>

#include <ATen/Dispatch.h>
#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

#include "uncertainty/core/checks.h"
#include "uncertainty/core/once_differentiable.h"
#include "uncertainty/core/rows.h"
#include "uncertainty/dirichlet/dirichlet_rows.h"

namespace priornet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr int64_t kCostOfKl = 16;  // cost of an element, relative to one of a vectorised kernel

class KlFunction : public torch::autograd::Function<KlFunction> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& p_input, const torch::Tensor& q_input) {
    const auto p = p_input.detach().contiguous();
    const auto q = q_input.detach().contiguous();
    const auto values = torch::empty({p.size(0)}, p.options());
    AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "kl_divergence", [&] {
      const KlWork<scalar_t> work{p.data_ptr<scalar_t>(), q.data_ptr<scalar_t>(), p.size(1),
                                  values.data_ptr<scalar_t>()};
      for_each_row(work, p.size(0), kCostOfKl * p.size(1), p.is_cuda());
    });
    context->save_for_backward({p, q});
    keep_inputs(context, "kl_divergence", {p_input, q_input});
    return values.clamp_min_(0.0);  // of equal rows, rounding may give less
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    const auto saved = context->get_saved_variables();
    const auto& p = saved[0];
    const auto& q = saved[1];
    const auto weights = outputs[0].contiguous();
    const auto p_gradient = torch::empty_like(p);
    const auto q_gradient = torch::empty_like(q);
    AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "kl_divergence", [&] {
      const KlGradientWork<scalar_t> work{
          p.data_ptr<scalar_t>(),       q.data_ptr<scalar_t>(),          p.size(1),
          weights.data_ptr<scalar_t>(), p_gradient.data_ptr<scalar_t>(), q_gradient.data_ptr<scalar_t>()};
      for_each_row(work, p.size(0), kCostOfKl * p.size(1), p.is_cuda());
    });
    return differentiable_once(context, {p_gradient, q_gradient}, outputs);
  }
};

}  // namespace

torch::Tensor kl_divergence(const torch::Tensor& p_logits, const torch::Tensor& q_logits) {
  constexpr auto kFunction = "kl_divergence";
  check_logits(kFunction, "p_logits", p_logits);
  check_logits(kFunction, "q_logits", q_logits);
  check_same_shape(kFunction, "q_logits", q_logits, "p_logits", p_logits);
  check_same_dtype(kFunction, "q_logits", q_logits, "p_logits", p_logits);
  check_same_device(kFunction, "q_logits", q_logits, "p_logits", p_logits);
  is_on_cuda(kFunction, p_logits);
  return KlFunction::apply(p_logits, q_logits);
}

namespace {

constexpr int64_t kCostOfDensity = 16;  // cost of an element, relative to one of a vectorised kernel

/// The density of logits [N, K] at log_mu [S, N, K].
class DensityFunction : public torch::autograd::Function<DensityFunction> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& logits_input,
                               const torch::Tensor& log_mu_input) {
    const auto logits = logits_input.detach().contiguous();
    const auto log_mu = log_mu_input.detach().contiguous();
    const auto values = torch::empty({log_mu.size(0), log_mu.size(1)}, logits.options());
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "log_density", [&] {
      const DensityWork<scalar_t> work{
          logits.data_ptr<scalar_t>(), log_mu.data_ptr<scalar_t>(), logits.size(0), logits.size(1), log_mu.size(0),
          values.data_ptr<scalar_t>()};
      for_each_row(work, logits.size(0), kCostOfDensity * log_mu.size(0) * logits.size(1), logits.is_cuda());
    });
    context->save_for_backward({logits, log_mu});
    keep_inputs(context, "log_density", {logits_input, log_mu_input});
    return values;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    const auto saved = context->get_saved_variables();
    const auto& logits = saved[0];
    const auto& log_mu = saved[1];
    const auto weights = outputs[0].contiguous();
    const auto gradient = torch::empty_like(logits);
    const auto log_mu_gradient = torch::empty_like(log_mu);
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "log_density", [&] {
      const DensityGradientWork<scalar_t> work{logits.data_ptr<scalar_t>(),
                                               log_mu.data_ptr<scalar_t>(),
                                               logits.size(0),
                                               logits.size(1),
                                               log_mu.size(0),
                                               weights.data_ptr<scalar_t>(),
                                               gradient.data_ptr<scalar_t>(),
                                               log_mu_gradient.data_ptr<scalar_t>()};
      for_each_row(work, logits.size(0), kCostOfDensity * log_mu.size(0) * logits.size(1), logits.is_cuda());
    });
    return differentiable_once(context, {gradient, log_mu_gradient}, outputs);
  }
};

}  // namespace

torch::Tensor log_density(const torch::Tensor& logits, const torch::Tensor& log_mu) {
  constexpr auto kFunction = "log_density";
  check_logits(kFunction, "logits", logits);
  check_floating(kFunction, "log_mu", log_mu);
  check_same_dtype(kFunction, "log_mu", log_mu, "logits", logits);
  check_same_device(kFunction, "log_mu", log_mu, "logits", logits);
  is_on_cuda(kFunction, logits);
  if (log_mu.dim() == 3) {
    if (log_mu.size(0) > 0) check_same_shape(kFunction, "log_mu[0]", log_mu[0], "logits", logits);
    return DensityFunction::apply(logits, log_mu);
  }
  check_same_shape(kFunction, "log_mu", log_mu, "logits", logits);
  return DensityFunction::apply(logits, log_mu.unsqueeze(0)).squeeze(0);
}

torch::Tensor log_density_of_draws(const torch::Tensor& logits, const torch::Tensor& log_mu) {
  constexpr auto kFunction = "log_density_of_draws";
  check_logits(kFunction, "logits", logits);
  check_rank(kFunction, "log_mu", log_mu, 3);
  check_same_dtype(kFunction, "log_mu", log_mu, "logits", logits);
  check_same_device(kFunction, "log_mu", log_mu, "logits", logits);
  if (logits.scalar_type() != torch::kFloat64)
    throw ArgumentError(c10::str(kFunction, ": logits should be float64, found float32"));
  if (log_mu.size(0) > 0) check_same_shape(kFunction, "log_mu[0]", log_mu[0], "logits", logits);
  const bool on_cuda = is_on_cuda(kFunction, logits);
  const auto z = logits.detach().contiguous();
  const auto points = log_mu.detach().contiguous();
  const auto values = torch::empty({points.size(0), z.size(0)}, z.options());
  const DrawDensityWork work{z.data_ptr<double>(), points.data_ptr<double>(), z.size(0), z.size(1),
                             points.size(0),       values.data_ptr<double>()};
  for_each_row(work, z.size(0), kCostOfDensity * points.size(0) * z.size(1), on_cuda);
  return values;
}

torch::Tensor dirichlet_mode(const torch::Tensor& logits) {
  check_logits("dirichlet_mode", "logits", logits);
  // alpha - 1 without cancellation near alpha = 1, and without overflow far above it.
  const auto top = logits.detach().amax(1, true);
  const auto excess =
      torch::where(top < 1, torch::expm1(logits.clamp_max(1)), torch::exp(logits - top) - torch::exp(-top));
  const auto inside = (logits.detach() > 0).all(1, true);
  return torch::where(inside, excess / excess.sum(1, true), torch::full({}, NAN, logits.options()));
}

torch::Tensor sample_log(const torch::Tensor& logits, const SampleOptions& options) {
  check_logits("sample_log", "logits", logits);
  check_range("sample_log", "samples", options.samples >= 0, "at least 0", static_cast<double>(options.samples));
  const bool on_cuda = is_on_cuda("sample_log", logits);
  constexpr int64_t kCost = 64;  // cost of a draw, relative to an element of a vectorised kernel
  const auto input = logits.detach().contiguous();
  const auto log_mu = torch::empty({options.samples, input.size(0), input.size(1)}, input.options());
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "sample_log", [&] {
    const SampleWork<scalar_t> work{
        input.data_ptr<scalar_t>(), input.size(0), input.size(1), options.samples, options.seed,
        log_mu.data_ptr<scalar_t>()};
    for_each_row(work, input.size(0), kCost * options.samples * input.size(1), on_cuda);
  });
  return log_mu;
}

torch::Tensor sample(const torch::Tensor& logits, const SampleOptions& options) {
  return sample_log(logits, options).exp_();
}

}  // namespace priornet
