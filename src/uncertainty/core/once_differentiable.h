#pragma once

#include <priornet/uncertainty/errors.h>
#include <torch/csrc/autograd/custom_function.h>

#include <string>
#include <string_view>
#include <utility>

// For autograd functions whose backward is a kernel: the gradient from that kernel has no derivative of its own. A
// second derivative would silently lack that part; so it throws.

namespace priornet {

/// A gradient with an edge to everything that it depends on; nothing can pass back over these edges.
class OnceFunction : public torch::autograd::Function<OnceFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& gradient, at::TensorList,
                               const std::string& function) {
    context->saved_data["function"] = function;
    return gradient.clone();
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list&) {
    throw ArgumentError(context->saved_data["function"].toStringRef() +
                        ": can be differentiated only once, and a second derivative was asked for");
  }
};

/// In forward: keeps what the gradient depends on, and the name of the function that the user called.
inline void keep_inputs(torch::autograd::AutogradContext* context, std::string_view function,
                        const torch::autograd::tensor_list& inputs) {
  context->saved_data["inputs"] = inputs;
  context->saved_data["function"] = std::string(function);
}

/// In backward: the gradients made from the inputs and from `outputs`, the outputs of forward. If their graph is asked
/// for (create_graph), differentiating them throws ArgumentError.
inline torch::autograd::tensor_list differentiable_once(torch::autograd::AutogradContext* context,
                                                        torch::autograd::tensor_list gradients,
                                                        const torch::autograd::tensor_list& outputs) {
  if (!torch::GradMode::is_enabled()) return gradients;
  auto dependencies = context->saved_data["inputs"].toTensorVector();
  dependencies.insert(dependencies.end(), outputs.begin(), outputs.end());
  for (auto& gradient : gradients)
    if (gradient.defined())
      gradient = OnceFunction::apply(std::as_const(gradient), at::TensorList(dependencies),
                                     context->saved_data["function"].toStringRef());
  return gradients;
}

}  // namespace priornet
