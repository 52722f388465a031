#include <priornet/learning/network.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include "uncertainty/core/checks.h"

namespace priornet {

void Layer::make_weights(const at::Generator&) {}

LayerWriter::Value Layer::write(LayerWriter&, LayerWriter::Value) const {
  throw ArgumentError(fmt::format("export: the layer \"{}\" cannot be written for another runtime", label()));
}

NetworkPlan::NetworkPlan(std::vector<int64_t> input_shape, int64_t classes) : classes_(classes) {
  check_range("network", "classes", classes >= 2, "at least 2", static_cast<double>(classes));
  for (const auto size : input_shape)
    check_range("network", "every size of an input", size >= 1, "at least 1", static_cast<double>(size));
  shapes_.push_back(std::move(input_shape));
}

void NetworkPlan::add(std::string name, std::shared_ptr<Layer> layer) {
  shapes_.push_back(layer->output_shape(shape()));
  names_.push_back(std::move(name));
  layers_.push_back(std::move(layer));
}

Layer::Size NetworkPlan::size() const {
  Layer::Size sum;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto size = layers_[i]->size(shapes_[i]);
    sum.parameters += size.parameters;
    sum.multiply_adds += size.multiply_adds;
  }
  return sum;
}

std::vector<LayerSummary> NetworkPlan::describe() const {
  std::vector<LayerSummary> rows;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto size = layers_[i]->size(shapes_[i]);
    rows.push_back({layers_[i]->label(), shapes_[i + 1], static_cast<int64_t>(size.parameters),
                    static_cast<int64_t>(size.multiply_adds)});
  }
  return rows;
}

Network::Network(NetworkPlan plan, const at::Generator& generator) : plan_(std::move(plan)) {
  if (plan_.shape() != std::vector<int64_t>{classes()})
    throw ArgumentError(fmt::format("network: its last layer should give [{}] logits, found [{}]", classes(),
                                    fmt::join(plan_.shape(), ", ")));
  for (size_t i = 0; i < plan_.layers(); ++i) {
    auto& layer = plan_.layer(i);
    layer.make_weights(generator);
    for (const auto& [suffix, module] : layer.modules()) register_module(plan_.name(i) + suffix, module);
  }
  while (first_dropout_ < plan_.layers() && !plan_.layer(first_dropout_).drops()) ++first_dropout_;
}

torch::Tensor Network::forward(const torch::Tensor& inputs) { return from_dropout(before_dropout(inputs)); }

torch::Tensor Network::before_dropout(const torch::Tensor& inputs) {
  if (inputs.dim() == 0 || inputs.sizes().slice(1) != torch::IntArrayRef(input_shape()))
    throw ArgumentError(fmt::format("network: inputs should be [N, {}], found [{}]", fmt::join(input_shape(), ", "),
                                    fmt::join(inputs.sizes(), ", ")));
  return through(inputs, 0, first_dropout_);
}

torch::Tensor Network::from_dropout(const torch::Tensor& values) {
  return through(values, first_dropout_, plan_.layers());
}

torch::Tensor Network::through(torch::Tensor values, size_t first, size_t end) const {
  for (size_t i = first; i < end; ++i) values = plan_.layer(i).forward(values);
  return values;
}

void to_channels_last(Network& network) {
  for (auto& parameter : network.parameters())
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
}

int64_t multiply_adds(const Network& network) { return static_cast<int64_t>(network.plan().size().multiply_adds); }

int64_t parameter_count(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const auto& parameter : module.parameters()) count += parameter.numel();
  return count;
}

}  // namespace priornet
