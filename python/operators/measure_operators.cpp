#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/measure_table.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "operator_support.h"
#include "uncertainty/core/checks.h"
#include "uncertainty/core/once_differentiable.h"
#include "uncertainty/dirichlet/measure_batch.h"
#include "uncertainty/dirichlet/measure_row.h"

// The measures, and functions of two Dirichlets or of a Dirichlet and a categorical.

namespace priornet::python {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

LogitKind kind_of(bool dirichlet) { return dirichlet ? LogitKind::kDirichlet : LogitKind::kSoftmax; }

/// I[mu, theta] is estimated from draws, which have no gradient.
bool is_differentiable(std::string_view name) { return is_score(name) && name != "mutual_information_mu_theta"; }

/// The outputs of the operator, in the order of the table, except for the prediction, which comes last:
/// torch.library.opcheck adds all outputs to the first, which whole numbers cannot take.
std::vector<std::string> names_for(const Tensor& logits, bool dirichlet) {
  auto names = measure_names(kind_of(dirichlet), logits.dim() == 3);
  std::stable_partition(names.begin(), names.end(), [](const auto& name) { return name != "prediction"; });
  return names;
}

/// Values that were not estimated are NaN.
Tensors measures(const Tensor& logits, bool dirichlet, int64_t samples, int64_t seed) {
  return guarded_on(logits, [&] {
    const MuThetaOptions estimate{samples, static_cast<uint64_t>(seed)};
    const auto columns = measure_columns(logits.detach(), kind_of(dirichlet), estimate);
    Tensors values;
    for (const auto& name : names_for(logits, dirichlet)) {
      const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
      values.push_back(found != columns.end() ? found->values
                                              : at::full({logits.size(logits.dim() - 2)},
                                                         std::numeric_limits<double>::quiet_NaN(), logits.options()));
    }
    return values;
  });
}

Tensors measures_shapes(const Tensor& logits, bool dirichlet, int64_t, int64_t) {
  return guarded([&] {
    check_floating("measures", "logits", logits);
    if (logits.dim() != 3) check_rank("measures", "logits", logits, 2);
    Tensors values;
    for (const auto& name : names_for(logits, dirichlet))
      values.push_back(name == "prediction" ? empty_rows(logits, logits.dim() - 2, torch::kInt64)
                                            : empty_rows(logits, logits.dim() - 2));
    return values;
  });
}

/// The places of one Dirichlet's differentiable measures in the order of the kernels.
std::vector<size_t> places_in_kernels() {
  Tensors numbers;
  for (int64_t i = 0; i <= kDirichletMeasures; ++i) numbers.push_back(at::scalar_tensor(i, torch::kInt64));
  const auto named = named_measures(numbers);
  std::vector<size_t> places;
  for (const auto& measure : measure_table())
    if (measure.dirichlet != nullptr && is_differentiable(measure.name))
      places.push_back(static_cast<size_t>((named.*measure.dirichlet).item<int64_t>()));
  return places;
}

/// For one Dirichlet the kernels know the gradient of every measure.
Tensor dirichlet_gradient(at::TensorList weights, const Tensor& logits) {
  static const auto places = places_in_kernels();
  Tensors in_order(kDirichletMeasures);
  for (size_t i = 0; i < places.size(); ++i) in_order.at(places[i]) = weights.at(i);
  return batch_measures_gradient(logits, std::move(in_order));
}

/// weights: one for each differentiable measure, in their order.
Tensor measures_gradient(at::TensorList weights, const Tensor& logits, bool dirichlet) {
  return guarded_on(logits, [&] {
    if (dirichlet && logits.dim() == 2) return dirichlet_gradient(weights, logits);
    const RecordingGraphs recording;
    const auto leaf = RecordingGraphs::leaf(logits);
    tensor_list outputs;
    for (const auto& [name, values] : measure_columns(leaf, kind_of(dirichlet), {0, 0}))
      if (is_differentiable(name)) outputs.push_back(values);
    return torch::autograd::grad(outputs, {leaf}, weights.vec())[0];
  });
}

Tensor measures_gradient_shape(at::TensorList, const Tensor& logits, bool) { return empty_gradient(logits); }

class MeasuresFunction : public torch::autograd::Function<MeasuresFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& logits, bool dirichlet, int64_t samples,
                             int64_t seed) {
    const auto values = below_autograd(logits, dirichlet, samples, seed);
    context->save_for_backward({logits});
    context->saved_data["dirichlet"] = dirichlet;
    keep_inputs(context, "measures", {logits});
    tensor_list constant;
    const auto names = names_for(logits, dirichlet);
    for (size_t i = 0; i < names.size(); ++i)
      if (!is_differentiable(names[i])) constant.push_back(values[i]);
    context->mark_non_differentiable(constant);
    return values;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    static const auto gradient =
        operator_named<Tensor(at::TensorList, const Tensor&, bool)>("priornet::measures_gradient");
    const auto logits = context->get_saved_variables()[0];
    const bool dirichlet = context->saved_data["dirichlet"].toBool();
    const auto names = names_for(logits, dirichlet);
    Tensors weights;
    for (size_t i = 0; i < names.size(); ++i)
      if (is_differentiable(names[i])) weights.push_back(outputs[i]);
    Tensor result;
    {
      const at::AutoDispatchBelowADInplaceOrView below;
      result = gradient.call(weights, logits, dirichlet);
    }
    return differentiable_once(context, {result, {}, {}, {}}, outputs);
  }

  static Tensors below_autograd(const Tensor& logits, bool dirichlet, int64_t samples, int64_t seed) {
    static const auto kernel = operator_named<Tensors(const Tensor&, bool, int64_t, int64_t)>("priornet::measures");
    const at::AutoDispatchBelowADInplaceOrView below;
    return kernel.call(logits, dirichlet, samples, seed);
  }
};

Tensors differentiable_measures(const Tensor& logits, bool dirichlet, int64_t samples, int64_t seed) {
  if (wants_gradient(logits)) return MeasuresFunction::apply(logits, dirichlet, samples, seed);
  return MeasuresFunction::below_autograd(logits, dirichlet, samples, seed);
}

/// A function of two tensors with one value per row, differentiable in both; the gradient function computes it again.
struct KlDivergence {
  static constexpr auto kName = "priornet::kl_divergence";
  static constexpr auto kGradient = "priornet::kl_divergence_gradient";
  static Tensor value(const Tensor& p_logits, const Tensor& q_logits) { return kl_divergence(p_logits, q_logits); }
  static Tensor shape(const Tensor& p_logits, const Tensor&) { return empty_rows(p_logits, 0); }
};
struct LogDensity {
  static constexpr auto kName = "priornet::log_density";
  static constexpr auto kGradient = "priornet::log_density_gradient";
  static Tensor value(const Tensor& logits, const Tensor& log_mu) { return log_density(logits, log_mu); }
  static Tensor shape(const Tensor& logits, const Tensor& log_mu) {
    return log_mu.dim() == 3 ? logits.new_empty_symint({log_mu.sym_size(0), logits.sym_size(0)})
                             : empty_rows(logits, 0);
  }
};

template <class Pair>
class PairFunction : public torch::autograd::Function<PairFunction<Pair>> {
 public:
  static Tensor value(const Tensor& first, const Tensor& second) {
    return guarded_on(first, [&] { return Pair::value(first.detach(), second.detach()); });
  }

  static Tensors gradient(const Tensor& weights, const Tensor& first, const Tensor& second) {
    return guarded_on(first, [&] {
      const RecordingGraphs recording;
      const tensor_list leaves{RecordingGraphs::leaf(first), RecordingGraphs::leaf(second)};
      return torch::autograd::grad({Pair::value(leaves[0], leaves[1])}, leaves, {weights});
    });
  }

  static Tensors gradient_shapes(const Tensor&, const Tensor& first, const Tensor& second) {
    return {empty_gradient(first), empty_gradient(second)};
  }

  static Tensor below_autograd(const Tensor& first, const Tensor& second) {
    static const auto kernel = operator_named<Tensor(const Tensor&, const Tensor&)>(Pair::kName);
    const at::AutoDispatchBelowADInplaceOrView below;
    return kernel.call(first, second);
  }

  static Tensor differentiable(const Tensor& first, const Tensor& second) {
    const bool wanted_first = wants_gradient(first);  // both are asked: each may have a forward-mode derivative
    const bool wanted_second = wants_gradient(second);
    return wanted_first || wanted_second ? PairFunction::apply(first, second) : below_autograd(first, second);
  }

  static Tensor forward(AutogradContext* context, const Tensor& first, const Tensor& second) {
    const auto values = below_autograd(first, second);
    context->save_for_backward({first, second});
    keep_inputs(context, Pair::kName, {first, second});
    return values;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    static const auto kernel = operator_named<Tensors(const Tensor&, const Tensor&, const Tensor&)>(Pair::kGradient);
    const auto saved = context->get_saved_variables();
    Tensors gradients;
    {
      const at::AutoDispatchBelowADInplaceOrView below;
      gradients = kernel.call(outputs[0], saved[0], saved[1]);
    }
    return differentiable_once(context, gradients, outputs);
  }
};

Tensor sampled(const Tensor& logits, int64_t samples, int64_t seed) {
  return guarded_on(logits, [&] { return sample(logits.detach(), {samples, static_cast<uint64_t>(seed)}); });
}

Tensor sampled_shape(const Tensor& logits, int64_t samples, int64_t) {
  return logits.new_empty_symint({c10::SymInt(samples), logits.sym_size(0), logits.sym_size(1)});
}

/// A row of the table as in Python.
using MeasureRow = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;
std::vector<MeasureRow> table() {
  std::vector<MeasureRow> rows;
  for (const auto& measure : measure_table())
    rows.emplace_back(measure.name, measure.label, measure.unit, name_of(measure.direction), name_of(measure.cause),
                      name_of(measure.softmax_cause));
  return rows;
}

std::vector<std::string> names(bool dirichlet, bool ensemble) { return measure_names(kind_of(dirichlet), ensemble); }

void compute_measures(torch::Library& library) {
  library.impl("measures", measures);
  library.impl("measures_gradient", measures_gradient);
  library.impl("kl_divergence", PairFunction<KlDivergence>::value);
  library.impl("kl_divergence_gradient", PairFunction<KlDivergence>::gradient);
  library.impl("log_density", PairFunction<LogDensity>::value);
  library.impl("log_density_gradient", PairFunction<LogDensity>::gradient);
  library.impl("sample", sampled);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(priornet, library) {
  library.def("measures(Tensor logits, bool dirichlet, int samples, int seed) -> Tensor[]");
  library.def("measures_gradient(Tensor[] weights, Tensor logits, bool dirichlet) -> Tensor");
  library.def("kl_divergence(Tensor p_logits, Tensor q_logits) -> Tensor");
  library.def("kl_divergence_gradient(Tensor weights, Tensor p_logits, Tensor q_logits) -> Tensor[]");
  library.def("log_density(Tensor logits, Tensor log_mu) -> Tensor");
  library.def("log_density_gradient(Tensor weights, Tensor logits, Tensor log_mu) -> Tensor[]");
  library.def("sample(Tensor logits, int samples, int seed) -> Tensor");
  library.def("measure_table", table);
  library.def("measure_names", names);
  library.def("take_file_error", [] { return std::exchange(file_error(), {}); });
}

TORCH_LIBRARY_IMPL(priornet, CPU, library) { compute_measures(library); }
TORCH_LIBRARY_IMPL(priornet, CUDA, library) { compute_measures(library); }

TORCH_LIBRARY_IMPL(priornet, Meta, library) {
  library.impl("measures", measures_shapes);
  library.impl("measures_gradient", measures_gradient_shape);
  library.impl("kl_divergence", KlDivergence::shape);
  library.impl("kl_divergence_gradient", PairFunction<KlDivergence>::gradient_shapes);
  library.impl("log_density", LogDensity::shape);
  library.impl("log_density_gradient", PairFunction<LogDensity>::gradient_shapes);
  library.impl("sample", sampled_shape);
}

TORCH_LIBRARY_IMPL(priornet, Autograd, library) {
  library.impl("measures", differentiable_measures);
  library.impl("kl_divergence", PairFunction<KlDivergence>::differentiable);
  library.impl("log_density", PairFunction<LogDensity>::differentiable);
}

}  // namespace priornet::python
