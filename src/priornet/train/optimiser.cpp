#include <priornet/core/checks.h>
#include <priornet/train/nadam.h>
#include <priornet/train/optimiser.h>
#include <priornet/train/sgd.h>

namespace priornet {

Optimiser::Optimiser(FlatParameters& parameters, const OptimiserOptions& options, torch::Tensor table)
    : parameters_(parameters), options_(options) {
  const auto device = parameters.values.device();
  // A CPU reads its row as it is; elsewhere it meets float32 parameters, and has their dtype.
  table_ = device.is_cpu() ? std::move(table) : table.to(parameters.values.options());
  counter_ = torch::zeros({1}, torch::TensorOptions(torch::kInt64).device(device));
  norm_ = torch::zeros({}, parameters.values.options());
}

std::unique_ptr<Optimiser> Optimiser::make(FlatParameters& parameters, const OptimiserOptions& options,
                                           const std::vector<double>& rates) {
  check_range("optimiser", "weight_decay", options.weight_decay >= 0.0, "at least 0", options.weight_decay);
  check_range("optimiser", "clip", options.clip >= 0.0, "at least 0", options.clip);
  if (options.kind == OptimiserOptions::Kind::kSgd) return std::make_unique<Sgd>(parameters, options, rates);
  return std::make_unique<NAdam>(parameters, options, rates);
}

void Optimiser::step() {
  const torch::NoGradGuard no_gradient;
  auto& gradients = parameters_.gradients;
  norm_.copy_(gradients.norm(2, torch::kFloat64));
  if (options_.clip > 0.0) gradients.mul_((options_.clip / (norm_ + 1e-6)).clamp_max_(1.0));
  if (options_.weight_decay > 0.0) gradients.add_(parameters_.values, options_.weight_decay);
  update(table_.index_select(0, counter_).squeeze(0));
  counter_.add_(1);
}

std::vector<NamedTensor> Optimiser::state() const {
  auto state = moments_;
  state.push_back({"steps", counter_});
  return state;
}

}  // namespace priornet
