#include "uncertainty/losses/loss_batch.h"

#include <ATen/Dispatch.h>

#include <cmath>

#include "uncertainty/core/rows.h"
#include "uncertainty/losses/loss_gpu.h"

namespace priornet {
namespace {

template <class T>
T* pointer(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

template <class T>
LossRows<T> rows_of(const LossPart& part) {
  const auto& target = part.target;
  const int64_t classes = part.logits.size(1);
  const bool teacher = target.kind() == DirichletTarget::Kind::kTeacher;
  LabelTarget<double> constants{};
  if (!teacher)
    constants = label_target(target.concentration_on_label(classes), target.concentration_elsewhere(), classes);
  return {part.logits.data_ptr<T>(),
          part.logits.size(0),
          classes,
          part.divergence,
          pointer<int64_t>(part.labels),
          teacher ? pointer<T>(target.probabilities()) : nullptr,
          constants,
          target.alpha0(),
          part.weights,
          pointer<T>(part.divergences),
          pointer<T>(part.cross_entropies),
          pointer<T>(part.gradient)};
}

template <class T>
void compute_on_cpu(const LossRows<T>& work) {
  parallel_rows(work.rows, work.classes,
                [&](int64_t begin, int64_t end) { loss_rows(work, begin, end, best_instruction_set()); });
}

#if defined(PRIORNET_CUDA)
template <class T>
void compute_on_cuda(const LossPart& inside, const LossRows<T>& outside, double steepest,
                     const torch::Tensor& partial_sums) {
  const auto work = rows_of<T>(inside);
  static_assert(sizeof(KeptClass<double>) == 2 * sizeof(double));
  const torch::Tensor kept = torch::empty({2 * loss_scratch(work.rows + outside.rows, work.classes)},
                                          inside.logits.options().dtype(torch::kFloat64));
  launch_losses(LossBatch<T>{work, outside, steepest, reinterpret_cast<KeptClass<double>*>(kept.data_ptr<double>()),
                             pointer<double>(partial_sums)},
                current_cuda_stream());
}
#endif

torch::Tensor slice(const torch::Tensor& tensor, int64_t begin, int64_t end) {
  return tensor.defined() ? tensor.slice(0, begin, end) : tensor;
}

/// The two parts of a batch, without memory for the values of rows.
struct Parts {
  LossPart inside, outside;
  double in_share, out_share;
};

Parts parts_of(const torch::Tensor& logits, const BatchLossOptions& options, const torch::Tensor& gradient) {
  const int64_t rows = logits.size(0);
  const int64_t in = options.target.rows();
  const double in_share = in > 0 ? 1.0 / static_cast<double>(in) : 0.0;
  const double out_share = rows > in ? 1.0 / static_cast<double>(rows - in) : 0.0;
  return {{slice(logits, 0, in),
           options.divergence,
           options.target.contiguous(),
           options.labels.defined() ? options.labels.contiguous() : options.labels,
           {options.in_weight * in_share, options.cross_entropy_weight * in_share},
           {},
           {},
           slice(gradient, 0, in)},
          {slice(logits, in, rows),
           options.divergence,
           DirichletTarget::flat(),
           {},
           {options.out_weight * out_share, 0.0},
           {},
           {},
           slice(gradient, in, rows)},
          in_share,
          out_share};
}

BatchLoss plain_batch_loss(const torch::Tensor& logits, const BatchLossOptions& options, Parts parts,
                           const torch::Tensor& gradient) {
  const auto values_for = [&](const LossPart& part) { return torch::empty({part.logits.size(0)}, logits.options()); };
  parts.inside.divergences = values_for(parts.inside);
  parts.outside.divergences = values_for(parts.outside);
  parts.inside.cross_entropies = values_for(parts.inside);
  compute_losses(parts.inside);
  compute_losses(parts.outside);
  if (gradient.defined() && std::isfinite(options.steepest)) gradient.clamp_(-options.steepest, options.steepest);
  // In float64: numbers at the end of float32's range should not sum to infinity.
  const auto in = parts.inside.divergences.sum(torch::kFloat64) * parts.in_share;
  const auto out = parts.outside.divergences.sum(torch::kFloat64) * parts.out_share;
  const auto cross_entropy =
      parts.inside.cross_entropies.sum(torch::kFloat64) * (options.labels.defined() ? parts.in_share : 0.0);
  const auto total = options.in_weight * in + options.out_weight * out + options.cross_entropy_weight * cross_entropy;
  const auto largest = logits.scalar_type() == torch::kFloat64 ? std::numeric_limits<double>::max()
                                                               : double{std::numeric_limits<float>::max()};
  const auto held = [&](const torch::Tensor& value) { return value.clamp_max(largest).to(logits.scalar_type()); };
  return {held(total), held(in), held(out), held(cross_entropy), gradient};
}

}  // namespace

void compute_losses(const LossPart& part) {
  AT_DISPATCH_FLOATING_TYPES(part.logits.scalar_type(), "loss", [&] {
#if defined(PRIORNET_CUDA)
    if (part.logits.is_cuda())
      return compute_on_cuda<scalar_t>(part, LossRows<scalar_t>{}, std::numeric_limits<double>::infinity(), {});
#endif
    compute_on_cpu(rows_of<scalar_t>(part));
  });
  if (part.divergences.defined()) part.divergences.clamp_min_(0.0);  // at the target rounding may give less
}

BatchLoss batch_loss(const torch::Tensor& logits, const BatchLossOptions& options, bool wants_gradient) {
  const auto gradient = wants_gradient ? torch::empty_like(logits) : torch::Tensor();
  const auto parts = parts_of(logits, options, gradient);
#if defined(PRIORNET_CUDA)
  if (logits.is_cuda()) {
    const auto scalar = [&] { return torch::empty({}, logits.options()); };
    const BatchLoss loss{scalar(), scalar(), scalar(), scalar(), gradient};
    const auto partial_sums = torch::empty({kLossBlocks, kLossSums}, logits.options().dtype(torch::kFloat64));
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "loss", [&] {
      compute_on_cuda<scalar_t>(parts.inside, rows_of<scalar_t>(parts.outside), options.steepest, partial_sums);
      launch_loss_means(LossMeans<scalar_t>{partial_sums.data_ptr<double>(),
                                            logits.size(0),
                                            logits.size(1),
                                            {parts.in_share, parts.out_share, parts.in_share},
                                            {options.in_weight, options.out_weight, options.cross_entropy_weight},
                                            {pointer<scalar_t>(loss.in), pointer<scalar_t>(loss.out),
                                             pointer<scalar_t>(loss.cross_entropy)},
                                            pointer<scalar_t>(loss.total)},
                        current_cuda_stream());
    });
    return loss;
  }
#endif
  return plain_batch_loss(logits, options, parts, gradient);
}

}  // namespace priornet
