#include <priornet/dirichlet/divergence.h>

#include <ATen/Dispatch.h>
#include <priornet/core/checks.h>
#include <priornet/core/once_differentiable.h>
#include <priornet/core/rows.h>
#include <priornet/dirichlet/row_works.h>

namespace priornet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr int64_t kCostOfKl = 16;  // of an element, next to one of a vectorised kernel

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
    return values;
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
  is_on_cuda(kFunction, p_logits);
  return KlFunction::apply(p_logits, q_logits);
}

}  // namespace priornet
