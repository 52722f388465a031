#include "uncertainty/dirichlet/measure_batch.h"

#include <ATen/Dispatch.h>

#include <utility>

#include "uncertainty/core/rows.h"
#include "uncertainty/dirichlet/measure_gpu.h"

namespace priornet {
namespace {

template <class T>
void run(const MeasureRows<T>& work, bool on_cuda) {
#if defined(PRIORNET_CUDA)
  if (on_cuda) return launch_measures(work, current_cuda_stream());
#endif
  static_cast<void>(on_cuda);
  parallel_rows(work.rows, work.classes,
                [&](int64_t begin, int64_t end) { measure_rows(work, begin, end, best_instruction_set()); });
}

template <class T>
void run(const MeasureGradientRows<T>& work, bool on_cuda) {
#if defined(PRIORNET_CUDA)
  if (on_cuda) return launch_rows(MeasureGradientWork<T>{work}, work.rows, current_cuda_stream());
#endif
  static_cast<void>(on_cuda);
  parallel_rows(work.rows, work.classes,
                [&](int64_t begin, int64_t end) { measure_gradient_rows(work, begin, end, best_instruction_set()); });
}

}  // namespace

std::vector<torch::Tensor> batch_measures(const torch::Tensor& input) {
  const auto logits = input.detach().contiguous();
  const int64_t rows = logits.size(0);
  const auto prediction = torch::empty({rows}, logits.options().dtype(torch::kInt64));
  std::vector<torch::Tensor> measures;
  for (int64_t i = 0; i < kDirichletMeasures; ++i) measures.push_back(torch::empty({rows}, logits.options()));
  const bool on_cuda = is_on_cuda("dirichlet_measures", logits);
  AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "dirichlet_measures", [&] {
    MeasureRows<scalar_t> work{logits.data_ptr<scalar_t>(), rows, logits.size(1), prediction.data_ptr<int64_t>(), {}};
    for (int m = 0; m < kDirichletMeasures; ++m) work.measures[m] = measures[m].template data_ptr<scalar_t>();
    run(work, on_cuda);
  });
  measures.push_back(prediction);
  return measures;
}

torch::Tensor batch_measures_gradient(const torch::Tensor& input, std::vector<torch::Tensor> weights) {
  const auto logits = input.detach().contiguous();
  const auto gradient = torch::empty_like(logits);
  for (auto& weight : weights)
    weight = weight.defined() ? weight.contiguous() : torch::zeros({logits.size(0)}, logits.options());
  AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "dirichlet_measures", [&] {
    MeasureGradientRows<scalar_t> work{
        logits.data_ptr<scalar_t>(), logits.size(0), logits.size(1), {}, gradient.data_ptr<scalar_t>()};
    for (int m = 0; m < kDirichletMeasures; ++m) work.weights[m] = weights[m].template data_ptr<scalar_t>();
    run(work, logits.is_cuda());
  });
  return gradient;
}

namespace {

template <size_t... kIndices>
DirichletMeasures named(const std::vector<torch::Tensor>& measures, std::index_sequence<kIndices...>) {
  static_assert(sizeof(DirichletMeasures) == (kDirichletMeasures + 1) * sizeof(torch::Tensor), "one field per measure");
  return {measures.at(kDirichletMeasures), measures.at(kIndices)...};
}

}  // namespace

DirichletMeasures named_measures(const std::vector<torch::Tensor>& in_order) {
  return named(in_order, std::make_index_sequence<kDirichletMeasures>{});
}

}  // namespace priornet
