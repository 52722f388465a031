#include <priornet/learning/network.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include "learning/networks/stage_map.h"
#include "uncertainty/core/checks.h"

namespace priornet {

Network::Network(std::vector<int64_t> input_shape, int64_t classes)
    : input_shape_(std::move(input_shape)), classes_(classes) {
  check_range("network", "classes", classes >= 2, "at least 2", static_cast<double>(classes));
  for (const auto size : input_shape_)
    check_range("network", "every size of an input", size >= 1, "at least 1", static_cast<double>(size));
}

void Network::add_stage(std::string name, StageMap map, const Parts& parts) {
  const auto* convolution = std::get_if<ConvolutionMap>(&map.what);
  const int64_t pooled = convolution != nullptr && convolution->pooled ? 4 : 1;
  if (!std::holds_alternative<DropoutMap>(map.what) && !has_dropout()) ++first_dropout_;
  Stage stage{std::move(name), std::make_shared<StageMap>(std::move(map))};
  for (const auto& [key, part] : parts) {
    register_module(key, part);
    stage.parameters += parameter_count(*part);
    for (const auto& weights : part->parameters()) {
      if (weights.dim() == 4) stage.convolution_weights += weights.numel() * pooled;
      if (weights.dim() == 2) stage.dense_weights += weights.numel();
    }
  }
  stages_.push_back(std::move(stage));
}

torch::Tensor Network::forward(const torch::Tensor& inputs) { return from_dropout(before_dropout(inputs)); }

torch::Tensor Network::before_dropout(const torch::Tensor& inputs) {
  if (inputs.dim() == 0 || inputs.sizes().slice(1) != torch::IntArrayRef(input_shape_))
    throw ArgumentError(fmt::format("network: inputs should be [N, {}], found [{}]", fmt::join(input_shape_, ", "),
                                    fmt::join(inputs.sizes(), ", ")));
  return through(inputs, 0, first_dropout_);
}

torch::Tensor Network::from_dropout(const torch::Tensor& values) {
  return through(values, first_dropout_, stages_.size());
}

torch::Tensor Network::through(torch::Tensor values, size_t first, size_t end) const {
  for (size_t i = first; i < end; ++i) values = (*stages_[i].map)(values);
  return values;
}

std::vector<Network::Layer> Network::describe() {
  const torch::NoGradGuard no_gradient;
  const bool training = is_training();
  eval();  // batch norm cannot train on one input, and should not
  std::vector<int64_t> shape = input_shape_;
  shape.insert(shape.begin(), 1);
  const auto all = parameters();
  auto values = torch::zeros(shape, all.empty() ? torch::TensorOptions() : all[0].options().requires_grad(false));
  std::vector<Layer> layers;
  for (const auto& stage : stages_) {
    values = (*stage.map)(values);
    const auto pixels = values.dim() == 4 ? values.size(2) * values.size(3) : 1;
    layers.push_back({stage.name, values.sizes().slice(1).vec(), stage.parameters,
                      stage.convolution_weights * pixels + stage.dense_weights});
  }
  train(training);
  return layers;
}

std::vector<std::shared_ptr<StageMap>> Network::maps() const {
  std::vector<std::shared_ptr<StageMap>> maps;
  for (const auto& stage : stages_) maps.push_back(stage.map);
  return maps;
}

void to_channels_last(Network& network) {
  for (auto& parameter : network.parameters())
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
}

int64_t multiply_adds(Network& network) {
  int64_t sum = 0;
  for (const auto& layer : network.describe()) sum += layer.multiply_adds;
  return sum;
}

int64_t parameter_count(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const auto& parameter : module.parameters()) count += parameter.numel();
  return count;
}

}  // namespace priornet
