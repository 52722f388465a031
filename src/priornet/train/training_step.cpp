#include <priornet/core/autocast.h>
#include <priornet/train/training_step.h>

namespace priornet {

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
  const auto loss = method_loss(logits.to(torch::kFloat32), targets, options_.method);
  loss.total.backward();
  if (options_.exchange) options_.exchange();
  optimiser_.step();
  const torch::NoGradGuard no_gradient;
  const auto one = torch::ones_like(loss.in);
  sums_.add_(
      torch::stack({loss.total.detach(), loss.in, loss.out, loss.cross_entropy, optimiser_.gradient_norm(), one}));
}

}  // namespace priornet
