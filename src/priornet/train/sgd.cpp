#include <priornet/core/checks.h>
#include <priornet/train/sgd.h>

namespace priornet {

Sgd::Sgd(FlatParameters& parameters, const OptimiserOptions& options, const std::vector<double>& rates)
    : Optimiser(parameters, options, torch::tensor(rates, torch::kFloat64).unsqueeze(1)) {
  check_range("SGD", "momentum", options.momentum >= 0.0 && options.momentum < 1.0, "in [0, 1)", options.momentum);
  moments_ = {{"velocity", torch::zeros_like(parameters.values)}};
}

void Sgd::update(const torch::Tensor& row) {
  auto& velocity = moments_[0].values;
  const auto& gradients = parameters_.gradients;
  velocity.mul_(options_.momentum).add_(gradients);
  const auto rate = row[0].to(gradients.dtype());
  if (options_.nesterov)
    parameters_.values.sub_((gradients + velocity * options_.momentum).mul_(rate));
  else
    parameters_.values.sub_(velocity * rate);
}

}  // namespace priornet
