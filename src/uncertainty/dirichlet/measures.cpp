#include <priornet/uncertainty/measures.h>

#include <ATen/Dispatch.h>

#include "uncertainty/core/checks.h"
#include "uncertainty/core/once_differentiable.h"
#include "uncertainty/core/rows.h"
#include "uncertainty/dirichlet/measure_gpu.h"

namespace priornet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

class MeasuresFunction : public torch::autograd::Function<MeasuresFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const torch::Tensor& input) {
    const auto logits = input.detach().contiguous();
    const int64_t rows = logits.size(0);
    const auto prediction = torch::empty({rows}, logits.options().dtype(torch::kInt64));
    tensor_list measures;
    for (int64_t i = 0; i < kDirichletMeasures; ++i) measures.push_back(torch::empty({rows}, logits.options()));
    const bool on_cuda = is_on_cuda("dirichlet_measures", logits);
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "dirichlet_measures", [&] {
      MeasureRows<scalar_t> work{logits.data_ptr<scalar_t>(), rows, logits.size(1), prediction.data_ptr<int64_t>(), {}};
      for (int m = 0; m < kDirichletMeasures; ++m) work.measures[m] = measures[m].template data_ptr<scalar_t>();
      run(work, on_cuda);
    });
    context->save_for_backward({logits});
    keep_inputs(context, "dirichlet_measures", {input});
    context->mark_non_differentiable({prediction});
    measures.push_back(prediction);
    return measures;
  }

  static tensor_list backward(AutogradContext* context, tensor_list outputs) {
    const auto logits = context->get_saved_variables()[0];
    const auto gradient = torch::empty_like(logits);
    for (auto& output : outputs)
      output = output.defined() ? output.contiguous() : torch::zeros({logits.size(0)}, logits.options());
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "dirichlet_measures", [&] {
      MeasureGradientRows<scalar_t> work{
          logits.data_ptr<scalar_t>(), logits.size(0), logits.size(1), {}, gradient.data_ptr<scalar_t>()};
      for (int m = 0; m < kDirichletMeasures; ++m) work.weights[m] = outputs[m].template data_ptr<scalar_t>();
      run(work, logits.is_cuda());
    });
    return differentiable_once(context, {gradient}, outputs);
  }

 private:
  template <class T>
  static void run(const MeasureRows<T>& work, bool on_cuda) {
#if defined(PRIORNET_CUDA)
    if (on_cuda) return launch_measures(work, current_cuda_stream());
#endif
    static_cast<void>(on_cuda);
    parallel_rows(work.rows, work.classes,
                  [&](int64_t begin, int64_t end) { measure_rows(work, begin, end, best_instruction_set()); });
  }

  template <class T>
  static void run(const MeasureGradientRows<T>& work, bool on_cuda) {
#if defined(PRIORNET_CUDA)
    if (on_cuda) return launch_rows(MeasureGradientWork<T>{work}, work.rows, current_cuda_stream());
#endif
    static_cast<void>(on_cuda);
    parallel_rows(work.rows, work.classes,
                  [&](int64_t begin, int64_t end) { measure_gradient_rows(work, begin, end, best_instruction_set()); });
  }
};

/// From the measures in the order of the kernels, the prediction behind them.
template <size_t... kIndices>
DirichletMeasures named(const tensor_list& measures, std::index_sequence<kIndices...>) {
  static_assert(sizeof(DirichletMeasures) == (kDirichletMeasures + 1) * sizeof(torch::Tensor), "one field per measure");
  return {measures[kDirichletMeasures], measures[kIndices]...};
}

DirichletMeasures measures_of(std::string_view function, const torch::Tensor& logits) {
  check_logits(function, "logits", logits);
  return named(MeasuresFunction::apply(logits), std::make_index_sequence<kDirichletMeasures>{});
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
