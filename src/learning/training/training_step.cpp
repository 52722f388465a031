#include "learning/training/training_step.h"

#include <priornet/learning/inference.h>

#include "learning/base/gpu_modes.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

// Only the reverse divergence can be steeper within reach: where it wants a class far below the others to grow.
constexpr double kSteepest = 1e15;
constexpr double kLargestLogit = 30;

}  // namespace

torch::Tensor within_reach(const torch::Tensor& logits) {
  return logits - (logits.amax(1, /*keepdim=*/true) - kLargestLogit).clamp_min_(0);
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
    aside_ = std::make_shared<SecondStream>(parameters.values.device());
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

void TrainingStep::learn_from(const TrainingBatch& batch) {
  parameters_.clear_gradients();
  torch::Tensor logits;
  {
    const Autocast autocast(options_.bfloat16);
    const WeightGradientsAside weight_gradients(aside_);
    logits = logits_of(batch.inputs);
  }
  logits = logits.to(torch::kFloat32);
  auto targets = batch.targets;
  targets.prior = options_.prior;
  if (options_.teacher) targets.teacher = options_.teacher(batch.inputs);
  const auto [loss, gradient] = method_->loss(within_reach(logits.detach()), targets, kSteepest);
  if (options_.class_weights.defined()) {
    const auto& labels = batch.targets.labels;
    gradient.narrow(0, 0, labels.size(0)).mul_(options_.class_weights.index_select(0, labels).unsqueeze(1));
  }
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
