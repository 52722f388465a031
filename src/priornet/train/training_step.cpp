#include <priornet/core/autocast.h>
#include <priornet/train/training_step.h>
#if defined(PRIORNET_CUDA)
#include <priornet/train/captured_step.h>
#endif

namespace priornet {
namespace {

// What float32 can carry back through the layers; clipping then makes a step of it.
constexpr double kSteepest = 1e15;

}  // namespace

std::unique_ptr<TrainingStep> TrainingStep::make(Network& network, FlatParameters& parameters, Optimiser& optimiser,
                                                 Options options) {
#if defined(PRIORNET_CUDA)
  // An exchange between processes is not recorded: it begins while the backward pass runs.
  if (parameters.values.is_cuda() && !options.exchange)
    return captured_step(network, parameters, optimiser, std::move(options));
#endif
  return std::make_unique<TrainingStep>(network, parameters, optimiser, std::move(options));
}

TrainingStep::TrainingStep(Network& network, FlatParameters& parameters, Optimiser& optimiser, Options options)
    : network_(network),
      parameters_(parameters),
      optimiser_(optimiser),
      options_(std::move(options)),
      sums_(torch::zeros({kStepSums}, parameters.values.options().dtype(torch::kFloat64))) {}

void TrainingStep::run(const torch::Tensor& inputs, const BatchTargets& targets) { run_plainly(inputs, targets); }

void TrainingStep::run_plainly(const torch::Tensor& inputs, const BatchTargets& targets) {
  parameters_.clear_gradients();
  torch::Tensor logits;
  {
    const Autocast autocast(options_.bfloat16);
    logits = network_.forward(inputs);
  }
  logits = logits.to(torch::kFloat32);
  const auto [loss, gradient] = method_gradient(logits.detach(), targets, options_.method, kSteepest);
  logits.backward(gradient);
  if (options_.exchange) options_.exchange();
  optimiser_.step();
  const torch::NoGradGuard no_gradient;
  const auto norm = optimiser_.gradient_norm();
  sums_.narrow(0, 0, kCount).add_(torch::stack({loss.total, loss.in, loss.out, loss.cross_entropy, norm}));
  sums_[kCount].add_((sums_[kLoss] + sums_[kGradientNorm]).isfinite());
}

}  // namespace priornet
