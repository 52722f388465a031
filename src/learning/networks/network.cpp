#include <priornet/learning/network.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include "learning/networks/packed_network.h"
#include "uncertainty/core/checks.h"

namespace priornet {

void Layer::make_weights(const at::Generator&) {}

LayerWriter::Value Layer::write(LayerWriter&, LayerWriter::Value) const {
  throw ArgumentError(fmt::format("export: the layer \"{}\" cannot be written for other runtimes", label()));
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

void NetworkPlan::prepend(std::string name, std::shared_ptr<Layer> layer) {
  if (layer->output_shape(input_shape()) != input_shape())
    throw ArgumentError(fmt::format("network: the layer \"{}\" changes the shape of an input, and so cannot come first",
                                    layer->label()));
  shapes_.insert(shapes_.begin(), input_shape());
  names_.insert(names_.begin(), std::move(name));
  layers_.insert(layers_.begin(), std::move(layer));
}

void NetworkPlan::wrap_last(const std::function<std::shared_ptr<Layer>(std::shared_ptr<Layer>)>& wrapped) {
  auto layer = wrapped(layers_.at(layers_.size() - 1));
  if (layer->output_shape(shape_before(layers_.size() - 1)) != shape())
    throw ArgumentError(
        fmt::format("network: the layer \"{}\" should give what the layer inside it gives", layer->label()));
  layers_.back() = std::move(layer);
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
  // The map that layer i gives, unless the next layer gives a map of the same size.
  const auto side = [&](size_t index) {
    const auto& shape = plan_.shape_before(index);
    return shape.size() == 3 ? shape[1] * shape[2] : 0;
  };
  for (size_t i = 0; i < plan_.layers(); ++i)
    if (side(i + 1) > 0 && (i + 1 == plan_.layers() || side(i + 2) != side(i + 1))) seen_maps_.push_back(i);
  while (first_dropout_ < plan_.layers() && !plan_.layer(first_dropout_).drops()) ++first_dropout_;
}

void Network::check_inputs(const torch::Tensor& inputs) const {
  if (inputs.dim() == 0 || inputs.sizes().slice(1) != torch::IntArrayRef(input_shape()))
    throw ArgumentError(fmt::format("network: inputs should be [N, {}], found [{}]", fmt::join(input_shape(), ", "),
                                    fmt::join(inputs.sizes(), ", ")));
}

torch::Tensor Network::forward(const torch::Tensor& inputs) {
  check_inputs(inputs);
  return through(inputs, 0, plan_.layers());
}

bool Network::gives_features() const {
  return plan_.layers() > 0 && plan_.shape_before(plan_.layers() - 1).size() == 1;
}

torch::Tensor Network::features(const torch::Tensor& inputs) {
  if (!gives_features()) return Classifier::features(inputs);
  check_inputs(inputs);
  return through(inputs, 0, plan_.layers() - 1);
}

torch::Tensor Network::from_features(const torch::Tensor& features) {
  if (!gives_features()) return Classifier::from_features(features);
  return through(features, plan_.layers() - 1, plan_.layers());
}

Activations Network::activations(const torch::Tensor& inputs, bool layers) {
  check_inputs(inputs);
  if (const auto packed = packed_for(inputs, plan_.layers())) return packed_activations(*packed, inputs, layers);
  Activations result;
  auto values = inputs;
  size_t seen = 0;
  for (size_t i = 0; i < plan_.layers(); ++i) {
    if (i + 1 == plan_.layers() && gives_features()) result.features = values;
    values = plan_.layer(i).forward(values);
    if (!layers || seen == seen_maps_.size() || seen_maps_[seen] != i) continue;
    result.layers.push_back(channel_moments(values));
    ++seen;
  }
  result.logits = values;
  return result;
}

Activations Network::packed_activations(const PackedNetwork& packed, const torch::Tensor& inputs, bool layers) const {
  std::vector<bool> wanted(plan_.layers(), false);
  if (layers)
    for (const auto layer : seen_maps_) wanted[layer] = true;
  const auto last_but_one = plan_.layers() - 2;
  std::vector<torch::Tensor> features;
  std::vector<std::vector<torch::Tensor>> moments(plan_.layers());
  const bool looks_at_features = gives_features() && plan_.layers() > 1;
  if (looks_at_features) wanted[last_but_one] = true;
  Activations result;
  result.logits = packed.forward(inputs, plan_.layers(), wanted, [&](size_t layer, const torch::Tensor& values) {
    if (looks_at_features && layer == last_but_one) return features.push_back(values.clone());
    moments[layer].push_back(channel_moments(values));
  });
  if (looks_at_features) result.features = torch::cat(features);
  if (layers)
    for (const auto layer : seen_maps_) result.layers.push_back(torch::cat(moments[layer]));
  return result;
}

std::vector<torch::Tensor> Network::last_parameters() const {
  std::vector<torch::Tensor> parameters;
  if (!gives_features()) return parameters;
  for (const auto& [suffix, module] : plan_.layer(plan_.layers() - 1).modules())
    for (const auto& parameter : module->parameters()) parameters.push_back(parameter);
  return parameters;
}

torch::Tensor Network::before_dropout(const torch::Tensor& inputs) {
  check_inputs(inputs);
  return through(inputs, 0, first_dropout_);
}

torch::Tensor Network::from_dropout(const torch::Tensor& values) {
  return through(values, first_dropout_, plan_.layers());
}

torch::Tensor Network::through(torch::Tensor values, size_t first, size_t end) {
  if (first == 0)
    if (const auto packed = packed_for(values, end)) return packed->forward(values, end);
  for (size_t i = first; i < end; ++i) values = plan_.layer(i).forward(values);
  return values;
}

void Network::train(bool on) {
  // Weights are about to change, and some code that changes them leaves no trace in a tensor.
  if (on) {
    const std::lock_guard lock(packing_);
    packed_ = nullptr;
  }
  Classifier::train(on);
}

std::shared_ptr<const PackedNetwork> Network::packed_for(const torch::Tensor& inputs, size_t end) {
  if (is_training() || at::GradMode::is_enabled() || end < 1) return nullptr;
  if (!inputs.is_cpu() || inputs.scalar_type() != torch::kFloat32 || inputs.size(0) == 0) return nullptr;
  // With dropout on, only the layers before it can be packed.
  for (size_t i = first_dropout_; i < end; ++i)
    if (plan_.layer(i).drops())
      for (const auto& [suffix, module] : plan_.layer(i).modules())
        for (const auto& part : module->modules())
          if (part->is_training()) return nullptr;
  const std::lock_guard lock(packing_);
  if (!can_be_packed_ || (packed_ && packed_->is_current())) return packed_;
  packed_ = PackedNetwork::of(plan_);
  can_be_packed_ = packed_ != nullptr;
  return packed_;
}

}  // namespace priornet
