#include <priornet/uncertainty/measures.h>

#include "uncertainty/core/checks.h"
#include "uncertainty/core/once_differentiable.h"
#include "uncertainty/dirichlet/measure_batch.h"

namespace priornet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

class MeasuresFunction : public torch::autograd::Function<MeasuresFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const torch::Tensor& input) {
    const auto logits = input.detach().contiguous();
    auto measures = batch_measures(logits);
    context->save_for_backward({logits});
    keep_inputs(context, "dirichlet_measures", {input});
    context->mark_non_differentiable({measures.back()});
    return measures;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    return differentiable_once(context, {batch_measures_gradient(context->get_saved_variables()[0], outputs)}, outputs);
  }
};

DirichletMeasures measures_of(std::string_view function, const torch::Tensor& logits) {
  check_logits(function, "logits", logits);
  return named_measures(MeasuresFunction::apply(logits));
}

}  // namespace

DirichletMeasures dirichlet_measures(const torch::Tensor& logits) { return measures_of("dirichlet_measures", logits); }

torch::Tensor expected_categorical(const torch::Tensor& logits) {
  check_logits("expected_categorical", "logits", logits);
  return torch::softmax(logits, 1);
}

torch::Tensor max_probability(const torch::Tensor& logits) { return measures_of("max_probability", logits).max_prob; }

torch::Tensor entropy(const torch::Tensor& logits) { return measures_of("entropy", logits).entropy; }

torch::Tensor expected_entropy(const torch::Tensor& logits) {
  return measures_of("expected_entropy", logits).expected_entropy;
}

torch::Tensor mutual_information(const torch::Tensor& logits) {
  return measures_of("mutual_information", logits).mutual_information;
}

torch::Tensor differential_entropy(const torch::Tensor& logits) {
  return measures_of("differential_entropy", logits).differential_entropy;
}

torch::Tensor precision(const torch::Tensor& logits) { return measures_of("precision", logits).precision; }

}  // namespace priornet
