#include <priornet/uncertainty/losses.h>

#include <cmath>
#include <limits>
#include <utility>

#include "uncertainty/core/checks.h"
#include "uncertainty/core/once_differentiable.h"
#include "uncertainty/core/rows.h"
#include "uncertainty/losses/loss_batch.h"

namespace priornet {

DirichletTarget::DirichletTarget(Kind kind, torch::Tensor values, const SmoothingOptions& options)
    : kind_(kind), values_(std::move(values)), options_(options) {
  check_range("DirichletTarget", "alpha0", options.alpha0 > 0 && std::isfinite(options.alpha0), "positive and finite",
              options.alpha0);
  check_range("DirichletTarget", "epsilon", options.epsilon > 0, "positive", options.epsilon);
}

DirichletTarget DirichletTarget::smoothed_labels(torch::Tensor labels, const SmoothingOptions& options) {
  return {Kind::kSmoothedLabels, std::move(labels), options};
}

DirichletTarget DirichletTarget::flat() { return {Kind::kFlat, {}, {}}; }

DirichletTarget DirichletTarget::teacher(torch::Tensor probabilities, double alpha0) {
  SmoothingOptions options;
  options.alpha0 = alpha0;
  // Nearer to 0, the loss would be beyond a float32. What is no tensor of floating point is left for check() to refuse.
  constexpr double kLeast = std::numeric_limits<float>::epsilon();
  if (probabilities.defined() && probabilities.is_floating_point()) probabilities = probabilities.clamp_min(kLeast);
  return {Kind::kTeacher, std::move(probabilities), options};
}

DirichletTarget DirichletTarget::contiguous() const {
  return values_.defined() ? DirichletTarget(kind_, values_.contiguous(), options_) : *this;
}

void DirichletTarget::check(std::string_view function, const torch::Tensor& logits) const {
  const int64_t classes = logits.size(1);
  if (kind_ == Kind::kSmoothedLabels) {
    check_same_device(function, "labels", values_, "logits", logits);
    check_labels(function, "labels", values_, logits.size(0), classes);
    check_range(function, "epsilon", static_cast<double>(classes - 1) * options_.epsilon < 1,
                "less than 1 / (classes - 1)", options_.epsilon);
  }
  if (kind_ == Kind::kTeacher) {
    check_same_shape(function, "probabilities", values_, "logits", logits);
    check_same_dtype(function, "probabilities", values_, "logits", logits);
    check_same_device(function, "probabilities", values_, "logits", logits);
  }
}

double DirichletTarget::concentration_on_label(int64_t classes) const {
  return kind_ == Kind::kFlat ? 1.0 : options_.alpha0 * (1.0 - static_cast<double>(classes - 1) * options_.epsilon);
}

double DirichletTarget::concentration_elsewhere() const {
  return kind_ == Kind::kFlat ? 1.0 : options_.alpha0 * options_.epsilon;
}

torch::Tensor DirichletTarget::concentrations(const torch::Tensor& logits) const {
  check_logits("concentrations", "logits", logits);
  check("concentrations", logits);
  if (kind_ == Kind::kTeacher) return values_ * options_.alpha0;
  auto alpha = torch::full_like(logits.detach(), concentration_elsewhere());
  if (kind_ == Kind::kSmoothedLabels) alpha.scatter_(1, values_.unsqueeze(1), concentration_on_label(logits.size(1)));
  return alpha;
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

torch::Tensor gradient_for(const torch::Tensor& input) {
  return input.requires_grad() ? torch::empty(input.sizes(), input.options()) : torch::Tensor();
}

struct RowLossSpec {
  std::string_view function;
  RowDivergence divergence;
  DirichletTarget target;
  torch::Tensor labels;  ///< or none
};

/// One loss per row; the gradient is computed at the same time.
class RowLossFunction : public torch::autograd::Function<RowLossFunction> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input, const RowLossSpec& spec) {
    const auto logits = input.detach().contiguous();
    const auto values = torch::empty({logits.size(0)}, logits.options());
    const auto gradient = gradient_for(input);
    const bool is_divergence = spec.divergence != RowDivergence::kNone;
    compute_losses({logits,
                    spec.divergence,
                    spec.target.contiguous(),
                    spec.labels.defined() ? spec.labels.contiguous() : spec.labels,
                    {is_divergence ? 1.0 : 0.0, is_divergence ? 0.0 : 1.0},
                    is_divergence ? values : torch::Tensor(),
                    is_divergence ? torch::Tensor() : values,
                    gradient});
    if (gradient.defined()) context->save_for_backward({gradient});
    keep_inputs(context, spec.function, {input});
    return values;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    return differentiable_once(context, {context->get_saved_variables()[0] * outputs[0].unsqueeze(1), {}}, outputs);
  }
};

BatchLossOptions batch_options(const torch::Tensor& labels, const PriorNetworkLossOptions& options) {
  return {options.divergence == Divergence::kForward ? RowDivergence::kForward : RowDivergence::kReverse,
          DirichletTarget::smoothed_labels(labels, options.target),
          labels,
          options.in_weight,
          options.out_weight,
          options.cross_entropy_weight,
          options.steepest};
}

/// The weighted sum of means over both parts of a batch.
class PriorNetworkLossFunction : public torch::autograd::Function<PriorNetworkLossFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const torch::Tensor& input, const BatchLossOptions& options) {
    const auto loss = batch_loss(input.detach().contiguous(), options, input.requires_grad());
    if (loss.gradient.defined()) context->save_for_backward({loss.gradient});
    keep_inputs(context, "prior_network_loss", {input});
    context->mark_non_differentiable({loss.in, loss.out, loss.cross_entropy});
    return {loss.total, loss.in, loss.out, loss.cross_entropy};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    return differentiable_once(context, {context->get_saved_variables()[0] * outputs[0], {}}, outputs);
  }
};

torch::Tensor divergence_of(std::string_view function, const torch::Tensor& logits, RowDivergence divergence,
                            const DirichletTarget& target) {
  check_logits(function, "logits", logits);
  target.check(function, logits);
  is_on_cuda(function, logits);
  const auto labels = target.kind() == DirichletTarget::Kind::kSmoothedLabels ? target.labels() : torch::Tensor();
  return RowLossFunction::apply(logits, RowLossSpec{function, divergence, target, labels});
}

}  // namespace

torch::Tensor forward_kl(const torch::Tensor& logits, const DirichletTarget& target) {
  return divergence_of("forward_kl", logits, RowDivergence::kForward, target);
}

torch::Tensor reverse_kl(const torch::Tensor& logits, const DirichletTarget& target) {
  return divergence_of("reverse_kl", logits, RowDivergence::kReverse, target);
}

torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels) {
  check_logits("cross_entropy", "logits", logits);
  check_same_device("cross_entropy", "labels", labels, "logits", logits);
  check_labels("cross_entropy", "labels", labels, logits.size(0), logits.size(1));
  is_on_cuda("cross_entropy", logits);
  return RowLossFunction::apply(logits,
                                RowLossSpec{"cross_entropy", RowDivergence::kNone, DirichletTarget::flat(), labels});
}

namespace {

void check_batch(std::string_view function, const torch::Tensor& logits, const torch::Tensor& labels,
                 const SmoothingOptions& target) {
  check_logits(function, "logits", logits);
  if (labels.defined()) check_rank(function, "labels", labels, 1);
  const int64_t in = labels.defined() ? labels.size(0) : 0;
  DirichletTarget::smoothed_labels(labels, target).check(function, logits.slice(0, 0, in));
  is_on_cuda(function, logits);
}

LossWithGradient with_gradient(const torch::Tensor& logits, const BatchLossOptions& options) {
  const auto loss = batch_loss(logits.detach().contiguous(), options, true);
  return {{loss.total, loss.in, loss.out, loss.cross_entropy}, loss.gradient};
}

}  // namespace

PriorNetworkLoss prior_network_loss(const torch::Tensor& logits, const torch::Tensor& labels,
                                    const PriorNetworkLossOptions& options) {
  check_batch("prior_network_loss", logits, labels, options.target);
  const auto parts = PriorNetworkLossFunction::apply(logits, batch_options(labels, options));
  return {parts[0], parts[1], parts[2], parts[3]};
}

LossWithGradient prior_network_gradient(const torch::Tensor& logits, const torch::Tensor& labels,
                                        const PriorNetworkLossOptions& options) {
  check_batch("prior_network_gradient", logits, labels, options.target);
  return with_gradient(logits, batch_options(labels, options));
}

LossWithGradient cross_entropy_gradient(const torch::Tensor& logits, const torch::Tensor& labels, double steepest) {
  constexpr auto kFunction = "cross_entropy_gradient";
  check_logits(kFunction, "logits", logits);
  check_same_device(kFunction, "labels", labels, "logits", logits);
  check_labels(kFunction, "labels", labels, logits.size(0), logits.size(1));
  is_on_cuda(kFunction, logits);
  // Only the number of its rows counts here.
  const auto target = DirichletTarget::smoothed_labels(labels, {1.0, 0.5 / static_cast<double>(logits.size(1))});
  return with_gradient(logits, {RowDivergence::kNone, target, labels, 0, 0, 1, steepest});
}

LossWithGradient distillation_gradient(const torch::Tensor& logits, const torch::Tensor& probabilities,
                                       const DistillationOptions& options) {
  constexpr auto kFunction = "distillation_gradient";
  check_logits(kFunction, "logits", logits);
  check_floating(kFunction, "probabilities", probabilities);
  check_rank(kFunction, "probabilities", probabilities, 2);
  const int64_t in = probabilities.size(0);
  const auto target = DirichletTarget::teacher(probabilities, options.alpha0);
  target.check(kFunction, logits.slice(0, 0, in));
  is_on_cuda(kFunction, logits);
  return with_gradient(
      logits, {RowDivergence::kForward, target, {}, options.in_weight, options.out_weight, 0, options.steepest});
}

}  // namespace priornet
