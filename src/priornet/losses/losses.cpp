#include <priornet/losses/losses.h>

#include <ATen/Dispatch.h>
#include <priornet/core/checks.h>
#include <priornet/core/rows.h>
#include <priornet/losses/loss_works.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

namespace priornet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Some rows of a batch with one kind of target, and where their results go. Empty tensors are left out.
struct Part {
  torch::Tensor logits;
  RowDivergence divergence;
  DirichletTarget target;
  torch::Tensor labels;  ///< of the cross-entropy
  RowWeights weights;
  torch::Tensor divergences;
  torch::Tensor cross_entropies;
  torch::Tensor gradient;
};

template <class T>
T* pointer(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

void compute(const Part& part) {
  const auto& target = part.target;
  const int64_t classes = part.logits.size(1);
  const bool teacher = target.kind() == DirichletTarget::Kind::kTeacher;
  const auto probabilities = teacher ? target.probabilities().contiguous() : torch::Tensor();
  const auto labels = part.labels.defined() ? part.labels.contiguous() : torch::Tensor();
  LabelTarget<double> constants{};
  if (!teacher) {
    const double on = target.concentration_on_label(classes);
    const double off = target.concentration_elsewhere();
    const double beta0 = on + static_cast<double>(classes - 1) * off;
    constants = {target_class(on, beta0), target_class(off, beta0), target_total(beta0), -1.0};
  }
  AT_DISPATCH_FLOATING_TYPES(part.logits.scalar_type(), "loss", [&] {
    const LossRows<scalar_t> work{part.logits.data_ptr<scalar_t>(),
                                  part.logits.size(0),
                                  classes,
                                  part.divergence,
                                  pointer<int64_t>(labels),
                                  pointer<scalar_t>(probabilities),
                                  constants,
                                  target.alpha0(),
                                  part.weights,
                                  pointer<scalar_t>(part.divergences),
                                  pointer<scalar_t>(part.cross_entropies),
                                  pointer<scalar_t>(part.gradient)};
#if defined(PRIORNET_CUDA)
    if (part.logits.is_cuda()) {
      static_assert(sizeof(KeptClass<double>) == 2 * sizeof(double));
      const auto kept = torch::empty({work.rows, classes, 2}, part.logits.options().dtype(torch::kFloat64));
      const LossWork<scalar_t> rows{work, reinterpret_cast<KeptClass<double>*>(kept.data_ptr<double>())};
      return launch_rows(rows, work.rows, current_cuda_stream());
    }
#endif
    parallel_rows(work.rows, classes,
                  [&](int64_t begin, int64_t end) { loss_rows(work, begin, end, best_instruction_set()); });
  });
}

torch::Tensor gradient_for(const torch::Tensor& input) {
  return input.requires_grad() ? torch::empty(input.sizes(), input.options()) : torch::Tensor();
}

struct RowLossSpec {
  RowDivergence divergence;
  DirichletTarget target;
  torch::Tensor labels;  ///< or none
};

/// One loss a row; the gradient is ready before anyone asks for it.
class RowLossFunction : public torch::autograd::Function<RowLossFunction> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input, const RowLossSpec& spec) {
    const auto logits = input.detach().contiguous();
    const auto values = torch::empty({logits.size(0)}, logits.options());
    const auto gradient = gradient_for(input);
    const bool is_divergence = spec.divergence != RowDivergence::kNone;
    compute({logits,
             spec.divergence,
             spec.target,
             spec.labels,
             {is_divergence ? 1.0 : 0.0, is_divergence ? 0.0 : 1.0},
             is_divergence ? values : torch::Tensor(),
             is_divergence ? torch::Tensor() : values,
             gradient});
    if (gradient.defined()) context->save_for_backward({gradient});
    return values;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    return {context->get_saved_variables()[0] * outputs[0].unsqueeze(1), {}};
  }
};

/// The weighted sum of means over both parts of a batch.
class PriorNetworkLossFunction : public torch::autograd::Function<PriorNetworkLossFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const torch::Tensor& input, const torch::Tensor& labels,
                             const PriorNetworkLossOptions& options) {
    const auto logits = input.detach().contiguous();
    const int64_t rows = logits.size(0);
    const int64_t in = labels.size(0);
    const auto divergence =
        options.divergence == Divergence::kForward ? RowDivergence::kForward : RowDivergence::kReverse;
    const auto divergences = torch::empty({rows}, logits.options());
    const auto cross_entropies = torch::empty({in}, logits.options());
    const auto gradient = gradient_for(input);
    const auto slice = [](const torch::Tensor& tensor, int64_t begin, int64_t end) {
      return tensor.defined() ? tensor.slice(0, begin, end) : tensor;
    };
    const double in_share = in > 0 ? 1.0 / static_cast<double>(in) : 0.0;
    const double out_share = rows > in ? 1.0 / static_cast<double>(rows - in) : 0.0;
    compute({slice(logits, 0, in),
             divergence,
             DirichletTarget::smoothed_labels(labels, options.target),
             labels,
             {options.in_weight * in_share, options.cross_entropy_weight * in_share},
             slice(divergences, 0, in),
             cross_entropies,
             slice(gradient, 0, in)});
    compute({slice(logits, in, rows),
             divergence,
             DirichletTarget::flat(),
             {},
             {options.out_weight * out_share, 0.0},
             slice(divergences, in, rows),
             {},
             slice(gradient, in, rows)});
    // In float64: numbers at the end of float32's range should not sum to infinity.
    const auto mean_in = slice(divergences, 0, in).sum(torch::kFloat64) * in_share;
    const auto mean_out = slice(divergences, in, rows).sum(torch::kFloat64) * out_share;
    const auto mean_cross_entropy = cross_entropies.sum(torch::kFloat64) * in_share;
    const auto total =
        options.in_weight * mean_in + options.out_weight * mean_out + options.cross_entropy_weight * mean_cross_entropy;
    const auto largest = logits.scalar_type() == torch::kFloat64 ? std::numeric_limits<double>::max()
                                                                 : double{std::numeric_limits<float>::max()};
    const auto held = [&](const torch::Tensor& value) { return value.clamp_max(largest).to(logits.scalar_type()); };
    const tensor_list results = {held(total), held(mean_in), held(mean_out), held(mean_cross_entropy)};
    if (gradient.defined()) context->save_for_backward({gradient});
    context->mark_non_differentiable({results[1], results[2], results[3]});
    return results;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    return {context->get_saved_variables()[0] * outputs[0], {}, {}};
  }
};

torch::Tensor divergence_of(std::string_view function, const torch::Tensor& logits, RowDivergence divergence,
                            const DirichletTarget& target) {
  check_logits(function, "logits", logits);
  target.check(function, logits);
  is_on_cuda(function, logits);
  const auto labels = target.kind() == DirichletTarget::Kind::kSmoothedLabels ? target.labels() : torch::Tensor();
  return RowLossFunction::apply(logits, RowLossSpec{divergence, target, labels});
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
  check_labels("cross_entropy", "labels", labels, logits.size(0), logits.size(1));
  is_on_cuda("cross_entropy", logits);
  return RowLossFunction::apply(logits, RowLossSpec{RowDivergence::kNone, DirichletTarget::flat(), labels});
}

PriorNetworkLoss prior_network_loss(const torch::Tensor& logits, const torch::Tensor& labels,
                                    const PriorNetworkLossOptions& options) {
  constexpr auto kFunction = "prior_network_loss";
  check_logits(kFunction, "logits", logits);
  const int64_t in = labels.defined() && labels.dim() == 1 ? labels.size(0) : 0;
  DirichletTarget::smoothed_labels(labels, options.target).check(kFunction, logits.slice(0, 0, in));
  is_on_cuda(kFunction, logits);
  const auto parts = PriorNetworkLossFunction::apply(logits, labels, options);
  return {parts[0], parts[1], parts[2], parts[3]};
}

}  // namespace priornet
