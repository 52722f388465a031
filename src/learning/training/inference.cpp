#include <priornet/learning/inference.h>

#include <priornet/learning/transforms.h>
#include <torch/nn/modules/dropout.h>

#include <algorithm>

#include "learning/base/gpu_modes.h"
#include "uncertainty/core/checks.h"

namespace priornet {

Evaluating::Evaluating(Network& network, bool dropout) : network_(network), was_training_(network.is_training()) {
  network_.eval();
  if (!dropout) return;
  for (const auto& module : network_.modules())
    if (auto* layer = module->as<torch::nn::Dropout>()) layer->train();
}

torch::Device device_of(const Network& network) { return network.parameters().at(0).device(); }

torch::Tensor network_inputs(const torch::Tensor& inputs, int64_t first, const torch::Device& device,
                             const InferenceOptions& options) {
  auto batch = inputs.narrow(0, first, std::min(options.batch, inputs.size(0) - first)).to(device);
  if (batch.scalar_type() == torch::kUInt8) batch = to_unit_range(batch);
  return options.noise > 0.0 ? add_gaussian_noise(batch, {options.noise, options.seed, first}) : batch;
}

torch::Tensor infer(Network& network, const torch::Tensor& inputs, const InferenceOptions& options) {
  check_range("infer", "batch", options.batch >= 1, "at least 1", static_cast<double>(options.batch));
  const torch::NoGradGuard no_gradient;
  const Evaluating evaluating(network);
  const auto device = device_of(network);
  std::vector<torch::Tensor> parts;
  for (int64_t first = 0; first < inputs.size(0); first += options.batch) {
    const auto batch = network_inputs(inputs, first, device, options);
    const Autocast autocast(options.bfloat16);
    parts.push_back(network.forward(batch).to(torch::kFloat32));
  }
  if (parts.empty()) return torch::empty({0, network.classes()});
  return torch::cat(parts).to(torch::kCPU);
}

}  // namespace priornet
