#include <priornet/learning/inference.h>

#include <priornet/learning/classifier.h>
#include <priornet/learning/transforms.h>
#include <torch/nn/modules/dropout.h>

#include <algorithm>
#include <utility>

#include "learning/base/gpu_modes.h"
#include "uncertainty/core/checks.h"

namespace priornet {

Evaluating::Evaluating(Classifier& network, bool dropout) : network_(network), was_training_(network.is_training()) {
  network_.eval();
  if (!dropout) return;
  for (const auto& module : network_.modules())
    if (auto* layer = module->as<torch::nn::Dropout>()) layer->train();
}

Evaluating::~Evaluating() { network_.train(was_training_); }

torch::Device device_of(const Classifier& network) {
  for (const auto& tensors : {network.parameters(), network.buffers()})
    if (!tensors.empty()) return tensors[0].device();
  return torch::kCPU;  // its weights, if any, are a part of its program
}

torch::Tensor network_inputs(const torch::Tensor& inputs, int64_t first, const torch::Device& device,
                             const InferenceOptions& options) {
  auto batch = inputs.narrow(0, first, std::min(options.batch, inputs.size(0) - first)).to(device);
  if (batch.scalar_type() == torch::kUInt8) batch = to_unit_range(batch);
  return options.noise > 0.0 ? add_gaussian_noise(batch, {options.noise, options.seed, first}) : batch;
}

void for_each_batch(const torch::Tensor& inputs, const torch::Device& device, const InferenceOptions& options,
                    const std::function<void(const torch::Tensor& batch, int64_t first)>& ask) {
  check_range("infer", "batch", options.batch >= 1, "at least 1", static_cast<double>(options.batch));
  for (int64_t first = 0; first < inputs.size(0); first += options.batch)
    ask(network_inputs(inputs, first, device, options), first);
}

torch::Tensor logits_of_networks(const std::vector<std::shared_ptr<Classifier>>& networks, const torch::Tensor& inputs,
                                 const InferenceOptions& options, const AskOptions& ask) {
  const torch::NoGradGuard no_gradient;
  std::vector<torch::Tensor> parts;
  for_each_batch(inputs, device_of(*networks.at(0)), options, [&](const torch::Tensor& batch, int64_t first) {
    if (ask.on_batch) ask.on_batch(first);
    std::vector<torch::Tensor> members;
    Activations seen;
    for (size_t m = 0; m < networks.size(); ++m) {
      auto& network = *networks[m];
      const Autocast autocast(options.bfloat16);
      if (m == 0 && ask.on_activations) {
        const Evaluating evaluating(network);
        seen = network.activations(batch, ask.layers);
      }
      const Evaluating evaluating(network, ask.dropout != nullptr);
      const auto logits = ask.dropout             ? ask.dropout(network, {network.before_dropout(batch), m, first})
                          : seen.logits.defined() ? std::exchange(seen.logits, {}).unsqueeze(0)
                                                  : network.forward(batch).unsqueeze(0);
      members.push_back(logits.to(torch::kFloat32));
    }
    parts.push_back(torch::cat(members));
    if (!ask.on_activations) return;
    const bool once = networks.size() == 1 && !ask.dropout;
    seen.logits = once ? parts.back()[0] : parts.back();
    if (seen.features.defined()) seen.features = seen.features.to(torch::kFloat32);
    ask.on_activations(batch, seen);
  });
  return torch::cat(parts, 1);
}

torch::Tensor infer(Classifier& network, const torch::Tensor& inputs, const InferenceOptions& options) {
  if (inputs.size(0) == 0) return torch::empty({0, network.classes()});
  // Borrowed for the call.
  const std::shared_ptr<Classifier> borrowed(std::shared_ptr<Classifier>(), &network);
  return logits_of_networks({borrowed}, inputs, options)[0].to(torch::kCPU);
}

}  // namespace priornet
