#include <priornet/learning/inference.h>

#include <priornet/learning/classifier.h>
#include <priornet/learning/transforms.h>
#include <torch/nn/modules/dropout.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "learning/base/gpu_modes.h"
#include "learning/training/row_stream.h"
#include "uncertainty/core/checks.h"

namespace priornet {

Evaluating::Evaluating(Classifier& network, bool dropout) {
  for (const auto& module : network.modules()) modes_.emplace_back(module, module->is_training());
  network.eval();
  if (!dropout) return;
  for (const auto& [module, mode] : modes_)
    if (auto* layer = module->as<torch::nn::Dropout>()) layer->train();
}

// A module takes its parts along, and comes before them.
Evaluating::~Evaluating() {
  for (const auto& [module, mode] : modes_)
    if (module->is_training() != mode) module->train(mode);
}

namespace {

// The device of the first weight that is found: a list of all weights would take longer than some networks do.
std::optional<torch::Device> device_within(const torch::nn::Module& module) {
  for (const bool buffers : {false, true})
    if (const auto own = buffers ? module.buffers(false) : module.parameters(false); !own.empty())
      return own[0].device();
  for (const auto& child : module.children())
    if (const auto found = device_within(*child)) return found;
  return std::nullopt;
}

}  // namespace

torch::Device device_of(const Classifier& network) {
  return device_within(network).value_or(torch::kCPU);  // its weights, if any, are a part of its program
}

namespace {

// The rows of a set from number `first` on, as networks take them.
torch::Tensor as_inputs(const torch::Tensor& rows, int64_t first, const InferenceOptions& options) {
  const auto batch = rows.scalar_type() == torch::kUInt8 ? to_unit_range(rows) : rows;
  return options.noise > 0.0 ? add_gaussian_noise(batch, {options.noise, options.seed, first}) : batch;
}

// Values per batch: 222 photographs of 224 x 224, whose maps take hundreds of times the memory of their pixels.
constexpr int64_t kMostValues = int64_t{1} << 25;

// Whether the next batch is gathered while the network works on this one.
bool are_streamed(const torch::Tensor& inputs, const torch::Device& device, int64_t rows, int64_t batch) {
  if (!inputs.is_cpu() || rows <= batch) return false;
  const bool fits = fits_on(device, static_cast<int64_t>(inputs.nbytes()));  // also sets a GPU's limit
  return !device.is_cpu() || !fits;
}

}  // namespace

torch::Tensor network_inputs(const torch::Tensor& inputs, int64_t first, const torch::Device& device,
                             const InferenceOptions& options) {
  const auto count = std::min(options.batch, inputs.size(0) - first);
  return as_inputs(inputs.narrow(0, first, count).to(device), first, options);
}

namespace {

void check_rows(const torch::Tensor& rows, int64_t inputs) {
  check_range("infer", "rows", rows.dim() == 1 && rows.scalar_type() == torch::kInt64, "int64 [N]",
              static_cast<double>(rows.dim()));
  if (rows.size(0) == 0) return;
  const auto lowest = rows.min().item<int64_t>(), highest = rows.max().item<int64_t>();
  const auto wrong = lowest < 0 ? lowest : highest;
  check_range("infer", "rows", lowest >= 0 && highest < inputs, "rows of the set", static_cast<double>(wrong));
}

}  // namespace

void for_each_batch(const torch::Tensor& inputs, const torch::Device& device, const InferenceOptions& options,
                    const std::function<void(const torch::Tensor& batch, int64_t first)>& ask) {
  check_range("infer", "batch", options.batch >= 1, "at least 1", static_cast<double>(options.batch));
  const auto chosen = options.rows.defined() ? options.rows.to(torch::kCPU).contiguous() : torch::Tensor();
  if (chosen.defined()) check_rows(chosen, inputs.size(0));
  const auto rows = chosen.defined() ? chosen.size(0) : inputs.size(0);
  const auto batch =
      std::clamp<int64_t>(kMostValues * inputs.size(0) / std::max<int64_t>(1, inputs.numel()), 1, options.batch);
  const auto count_at = [&](int64_t first) { return std::min(batch, rows - first); };
  if (!are_streamed(inputs, device, rows, batch)) {
    for (int64_t first = 0; first < rows; first += batch) {
      const auto some = chosen.defined()
                            ? inputs.index_select(0, chosen.narrow(0, first, count_at(first)).to(inputs.device()))
                            : inputs.narrow(0, first, count_at(first));
      ask(as_inputs(some.to(device), first, options), first);
    }
    return;
  }
  RowStream stream({inputs.contiguous(), batch, device,
                    [&](int64_t step) {
                      const auto first = step * batch;
                      return chosen.defined() ? chosen.narrow(0, first, count_at(first))
                                              : torch::arange(first, first + count_at(first), torch::kInt64);
                    },
                    (rows + batch - 1) / batch});
  for (int64_t first = 0; first < rows; first += batch) {
    const auto some = stream.rows(first / batch);
    // A caller may keep rows of numbers, but their memory is used again.
    ask(as_inputs(some.dim() == 4 ? some : some.clone(), first, options), first);
  }
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
