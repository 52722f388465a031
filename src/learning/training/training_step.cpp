#include "learning/training/training_step.h"

#include <priornet/learning/inference.h>

#include "learning/base/gpu_modes.h"
#include "learning/training/method_list.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

// The largest gradient that float32 can carry back through the layers; clipping then limits the step.
constexpr double kSteepest = 1e15;

}  // namespace

BlendedRows blended_rows(const TrainingBatch& batch, double share) {
  const auto& labels = batch.targets.labels;
  const auto inside = labels.size(0), outside = batch.inputs.size(0) - inside;
  const auto part = [&](int64_t rows) { return static_cast<int64_t>(static_cast<double>(rows) * share); };
  const auto inner = part(inside), outer = std::min(part(outside), inner);
  const auto ends = batch.inputs.slice(0, inside - inner, inside);
  // Row i of n takes (i + 1/2) / n of the other row.
  const auto blend = [&](const torch::Tensor& rows, const torch::Tensor& others) {
    auto shape = std::vector<int64_t>(static_cast<size_t>(rows.dim()), 1);
    shape[0] = rows.size(0);
    const auto of_others =
        torch::arange(rows.size(0), rows.options().dtype(torch::kFloat32)).add_(0.5).div_(rows.size(0));
    return torch::lerp(rows, others, of_others.to(rows.dtype()).view(shape));
  };
  std::vector<torch::Tensor> parts = {batch.inputs.slice(0, 0, inside - inner),
                                      batch.inputs.slice(0, inside, inside + outside - outer),
                                      blend(ends, ends.roll(1, 0))};
  if (outer > 0) parts.push_back(blend(batch.inputs.slice(0, inside + outside - outer), ends.slice(0, 0, outer)));
  return {torch::cat(parts), labels.slice(0, 0, inside - inner), inner + outer};
}

std::unique_ptr<TrainingStep> TrainingStep::make(Classifier& network, FlatParameters& parameters, Optimiser& optimiser,
                                                 Options options) {
#if defined(PRIORNET_CUDA)
  // An exchange between processes is not recorded: it begins while the backward pass runs.
  if (parameters.values.is_cuda() && !options.exchange && network.can_be_recorded())
    return captured_step(network, parameters, optimiser, std::move(options));
#endif
  return std::make_unique<TrainingStep>(network, parameters, optimiser, std::move(options));
}

TrainingStep::TrainingStep(Classifier& network, FlatParameters& parameters, Optimiser& optimiser, Options options)
    : network_(network),
      parameters_(parameters),
      optimiser_(optimiser),
      options_(std::move(options)),
      method_(make_method(options_.method)),
      sums_(torch::zeros({kStepSums}, parameters.values.options().dtype(torch::kFloat64))) {
  if (parameters.values.is_cuda() && !options_.exchange)
    aside_ = std::make_shared<AsideStream>(parameters.values.device());
}

void TrainingStep::run(TrainingBatches& batches, int64_t step) {
  batches.prepare(step);
  execute([&] {
    batches.make();
    learn_from(batches.batch());
  });
}

torch::Tensor TrainingStep::logits_of(const torch::Tensor& inputs) {
  if (!options_.freeze) return network_.forward(inputs);
  torch::Tensor features;
  {
    const torch::NoGradGuard no_gradient;
    const Evaluating evaluating(network_);
    features = network_.features(inputs);
  }
  return network_.from_features(features);
}

LossWithGradient TrainingStep::loss_of(const torch::Tensor& logits, const BlendedRows& rows) const {
  BatchTargets targets{rows.labels, {}};
  if (options_.teacher) targets.teacher = options_.teacher(rows.inputs);
  if (rows.blends == 0) return method_->loss(logits, targets, kSteepest);
  const auto known = logits.size(0) - rows.blends;
  const auto blends = logits.slice(0, known);
  auto of_blends = no_loss(blends);
  add_cross_entropy(of_blends, blends, 0, targets.teacher.slice(0, known), 1.0, kSteepest);
  targets.teacher = targets.teacher.slice(0, 0, known);
  auto result = method_->loss(logits.slice(0, 0, known), targets, kSteepest);
  result.loss.total = result.loss.total + of_blends.loss.total;
  result.gradient = torch::cat({result.gradient, of_blends.gradient});
  return result;
}

void TrainingStep::learn_from(const TrainingBatch& batch) {
  parameters_.clear_gradients();
  const auto rows = options_.teacher_blends > 0.0 ? blended_rows(batch, options_.teacher_blends)
                                                  : BlendedRows{batch.inputs, batch.targets.labels};
  torch::Tensor logits;
  {
    const Autocast autocast(options_.bfloat16);
    const WeightGradientsAside weight_gradients(aside_);
    logits = logits_of(rows.inputs);
  }
  logits = logits.to(torch::kFloat32);
  const auto [loss, gradient] = loss_of(logits.detach(), rows);
  if (options_.class_weights.defined())
    gradient.narrow(0, 0, rows.labels.size(0)).mul_(options_.class_weights.index_select(0, rows.labels).unsqueeze(1));
  logits.backward(gradient);
  if (aside_) aside_->join();
  if (options_.exchange) options_.exchange();
  optimiser_.step();
  if (options_.updated) options_.updated();
  const auto part = [](const torch::Tensor& value) { return value.data_ptr<float>(); };
  const StepSumsWork work{{part(loss.total), part(loss.in), part(loss.out), part(loss.cross_entropy)},
                          optimiser_.gradient_norm().data_ptr<double>(),
                          sums_.data_ptr<double>()};
  for_each_row(work, 1, kStepSums, sums_.is_cuda());
}

}  // namespace priornet
