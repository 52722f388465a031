#include <priornet/learning/method.h>
#include <priornet/uncertainty/losses.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "operator_support.h"
#include "uncertainty/core/checks.h"
#include "uncertainty/core/once_differentiable.h"
#include "uncertainty/core/rows.h"
#include "uncertainty/losses/loss_batch.h"

// The losses. A loss and its gradient come from one pass, so each has two operators: NAME gives the loss alone, and
// NAME_gradient its gradient, which a graph calls.

namespace priornet::python {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// The kernels of a loss. `Arguments` are its arguments after the logits, which have no gradient. Only the first output
/// is differentiable.
template <class Loss, class... Arguments>
struct LossOperators {
  using Signature = Tensors(const Tensor&, Arguments...);

  static Tensors value(const Tensor& logits, Arguments... arguments) {
    return guarded_on(logits, [&] { return Loss::compute(false, logits, arguments...); });
  }
  static Tensors with_gradient(const Tensor& logits, Arguments... arguments) {
    return guarded_on(logits, [&] { return Loss::compute(true, logits, arguments...); });
  }
  static Tensors shapes(const Tensor& logits, Arguments...) { return Loss::shapes(logits); }
  static Tensors shapes_with_gradient(const Tensor& logits, Arguments...) {
    auto values = Loss::shapes(logits);
    values.push_back(empty_gradient(logits));
    return values;
  }

  static Tensors differentiable(const Tensor& logits, Arguments... arguments) {
    if (wants_gradient(logits)) return Function::apply(logits, arguments...);
    static const auto kernel = operator_named<Signature>(Loss::kName);
    const at::AutoDispatchBelowADInplaceOrView below;
    return kernel.call(logits, arguments...);
  }

  class Function : public torch::autograd::Function<Function> {
   public:
    static tensor_list forward(AutogradContext* context, const Tensor& logits, Arguments... arguments) {
      static const auto kernel = operator_named<Signature>(Loss::kGradientName);
      auto values = [&] {
        const at::AutoDispatchBelowADInplaceOrView below;
        return kernel.call(logits, arguments...);
      }();
      context->save_for_backward({values.back()});
      keep_inputs(context, Loss::kName, {logits});
      values.pop_back();
      context->mark_non_differentiable({values.begin() + 1, values.end()});
      return values;
    }

    static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
      const auto weight = outputs[0].dim() == 1 ? outputs[0].unsqueeze(1) : outputs[0];
      tensor_list gradients{context->get_saved_variables()[0] * weight};
      gradients.resize(1 + sizeof...(Arguments));
      return differentiable_once(context, gradients, outputs);
    }
  };
};

/// KL between the target of each row and its Dirichlet: [N].
struct RowDivergenceLoss {
  static constexpr auto kName = "priornet::divergence";
  static constexpr auto kGradientName = "priornet::divergence_gradient";

  static DirichletTarget target_of(Text kind, const MaybeTensor& values, double alpha0, double epsilon) {
    if (kind == "flat") return DirichletTarget::flat();
    if (!values) throw ArgumentError("divergence: this target needs labels or probabilities, found none");
    if (kind == "teacher") return DirichletTarget::teacher(*values, alpha0);
    return DirichletTarget::smoothed_labels(*values, {alpha0, epsilon});
  }

  static Tensors compute(bool wants_gradient, const Tensor& input, const MaybeTensor& values, Text kind, bool reverse,
                         double alpha0, double epsilon) {
    const auto function = reverse ? "reverse_kl" : "forward_kl";
    check_logits(function, "logits", input);
    const auto logits = input.detach().contiguous();
    const auto target = target_of(kind, values, alpha0, epsilon).contiguous();
    target.check(function, logits);
    is_on_cuda(function, logits);
    Tensors results{at::empty({logits.size(0)}, logits.options())};
    if (wants_gradient) results.push_back(at::empty_like(logits));
    const auto labels = target.kind() == DirichletTarget::Kind::kSmoothedLabels ? target.labels() : Tensor();
    compute_losses({logits,
                    reverse ? RowDivergence::kReverse : RowDivergence::kForward,
                    target,
                    labels,
                    {1.0, 0.0},
                    results[0],
                    {},
                    wants_gradient ? results[1] : Tensor()});
    return results;
  }

  static Tensors shapes(const Tensor& logits) { return {empty_rows(logits, 0)}; }
};
using Divergences = LossOperators<RowDivergenceLoss, const MaybeTensor&, Text, bool, double, double>;

SettingValues settings_of(Text json) { return nlohmann::json::parse(json.begin(), json.end()).get<SettingValues>(); }

/// The method that this thread used last: a training loop uses the same one in every step.
const Method& ready_method(const MethodInfo& info, Text settings) {
  struct Ready {
    const MethodInfo* info = nullptr;
    std::string settings;
    std::unique_ptr<Method> method;
  };
  thread_local Ready ready;
  if (ready.info != &info || ready.settings.compare(0, std::string::npos, settings.data(), settings.size()) != 0) {
    std::string text(settings.data(), settings.size());
    auto method = make_method({info.name, settings_of(settings)});
    ready = {&info, std::move(text), std::move(method)};
  }
  return *ready.method;
}

/// Each part as its own tensor, also if a method gives one tensor twice.
Tensors apart(const PriorNetworkLoss& loss) {
  Tensors parts;
  for (const auto& part : {loss.total, loss.in, loss.out, loss.cross_entropy}) {
    const bool is_there =
        std::any_of(parts.begin(), parts.end(), [&](const auto& other) { return other.is_alias_of(part); });
    parts.push_back(is_there ? part.detach().clone() : part.detach());
  }
  return parts;
}

void check_prior(const MethodInfo& info, double prior) {
  if (prior != 1.0 && !info.takes_prior) throw ArgumentError(c10::str(info.name, ": takes no prior, found ", prior));
  if (!(prior > 0.0 && std::isfinite(prior)))
    throw ArgumentError(c10::str(info.name, ": prior should be positive and finite, found ", prior));
}

/// The loss of a batch by a method of the table: total, inside, outside, cross-entropy. Settings are a JSON object.
struct BatchMethodLoss {
  static constexpr auto kName = "priornet::method_loss";
  static constexpr auto kGradientName = "priornet::method_loss_gradient";

  static Tensors compute(bool wants_gradient, const Tensor& logits, const MaybeTensor& labels,
                         const MaybeTensor& teacher, Text method, Text settings, double prior) {
    const auto& info = method_info(std::string(method));
    check_prior(info, prior);
    check_logits(info.name, "logits", logits);
    const auto& targets = info.needs_teacher ? teacher : labels;
    const auto what = info.needs_teacher ? "probabilities" : "labels";
    if (!targets) throw ArgumentError(c10::str(info.name, ": ", what, " should be a tensor, found none"));
    if (targets->dim() < 1 || targets->size(0) > logits.size(0))
      throw ArgumentError(c10::str(info.name, ": ", what, " should be for the first of ", logits.size(0),
                                   " rows, found shape ", targets->sizes()));
    if (!info.needs_outside && targets->size(0) != logits.size(0))
      throw ArgumentError(c10::str(info.name, ": learns nothing from out-of-distribution rows, found ", logits.size(0),
                                   " rows of logits for ", targets->size(0), " ", what));
    const RecordingGraphs recording;  // some methods leave their gradient to LibTorch
    const auto result = ready_method(info, settings)
                            .loss(RecordingGraphs::leaf(logits).detach(),
                                  {labels ? *labels : Tensor(), teacher ? *teacher : Tensor(), prior},
                                  std::numeric_limits<double>::infinity());
    auto results = apart(result.loss);
    if (wants_gradient) results.push_back(result.gradient.detach());
    return results;
  }

  static Tensors shapes(const Tensor& logits) {
    return {empty_scalar(logits), empty_scalar(logits), empty_scalar(logits), empty_scalar(logits)};
  }
};
using MethodLosses = LossOperators<BatchMethodLoss, const MaybeTensor&, const MaybeTensor&, Text, Text, double>;

/// A method as in Python: name, summary, whether it needs outliers, whether a teacher, whether it gives Dirichlets,
/// and its settings as JSON: key, value, what it is.
using MethodRow = std::tuple<std::string, std::string, bool, bool, bool, std::string>;
std::vector<MethodRow> method_rows() {
  std::vector<MethodRow> rows;
  for (const auto& method : methods()) {
    auto settings = nlohmann::json::array();
    for (const auto& setting : method.settings) settings.push_back({setting.key, setting.value, setting.what});
    rows.emplace_back(method.name, method.summary, method.needs_outside, method.needs_teacher, method.gives_dirichlet,
                      settings.dump());
  }
  return rows;
}

/// ValueError for an unknown method or setting, or a value out of its range.
void check_method(const std::string& method, const std::string& settings, double prior) {
  guarded([&] {
    make_method({method, settings_of(settings)});
    check_prior(method_info(method), prior);
  });
}

Tensor concentrations(const Tensor& logits, const MaybeTensor& values, Text kind, double alpha0, double epsilon) {
  return guarded(
      [&] { return RowDivergenceLoss::target_of(kind, values, alpha0, epsilon).concentrations(logits.detach()); });
}

void compute_losses_of_rows_and_batches(torch::Library& library) {
  library.impl("divergence", Divergences::value);
  library.impl("divergence_gradient", Divergences::with_gradient);
  library.impl("method_loss", MethodLosses::value);
  library.impl("method_loss_gradient", MethodLosses::with_gradient);
  library.impl("concentrations", concentrations);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(priornet, library) {
  constexpr auto kDivergence =
      "(Tensor logits, Tensor? values, str kind, bool reverse, float alpha0, float epsilon) -> Tensor[]";
  constexpr auto kMethodLoss =
      "(Tensor logits, Tensor? labels, Tensor? teacher, str method, str settings, float prior) -> Tensor[]";
  library.def((std::string("divergence") + kDivergence).c_str());
  library.def((std::string("divergence_gradient") + kDivergence).c_str());
  library.def((std::string("method_loss") + kMethodLoss).c_str());
  library.def((std::string("method_loss_gradient") + kMethodLoss).c_str());
  library.def("concentrations(Tensor logits, Tensor? values, str kind, float alpha0, float epsilon) -> Tensor");
  library.def("methods", method_rows);
  library.def("check_method", check_method);
}

TORCH_LIBRARY_IMPL(priornet, CPU, library) { compute_losses_of_rows_and_batches(library); }
TORCH_LIBRARY_IMPL(priornet, CUDA, library) { compute_losses_of_rows_and_batches(library); }

TORCH_LIBRARY_IMPL(priornet, Meta, library) {
  library.impl("divergence", Divergences::shapes);
  library.impl("divergence_gradient", Divergences::shapes_with_gradient);
  library.impl("method_loss", MethodLosses::shapes);
  library.impl("method_loss_gradient", MethodLosses::shapes_with_gradient);
}

TORCH_LIBRARY_IMPL(priornet, Autograd, library) {
  library.impl("divergence", Divergences::differentiable);
  library.impl("method_loss", MethodLosses::differentiable);
}

}  // namespace priornet::python
