#include <fmt/format.h>
#include <priornet/deploy/export/network_graph.h>
#include <priornet/deploy/export/operators.h>
#include <priornet/models/stage_map.h>

namespace priornet::graph {
namespace {

Value rectified(const Value& x, double slope) {
  if (slope == kNoActivation) return x;
  return slope == 0.0 ? x.owner->apply("Relu", {x}) : x.owner->apply("LeakyRelu", {x}, {{"alpha", slope}});
}

class NetworkGraph {
 public:
  NetworkGraph(const Network& network, Graph& graph, std::string prefix) : graph_(graph), prefix_(std::move(prefix)) {
    for (const auto& item : network.named_parameters()) names_[item.value().unsafeGetTensorImpl()] = item.key();
    for (const auto& item : network.named_buffers()) names_[item.value().unsafeGetTensorImpl()] = item.key();
  }

  Value operator()(const StageMap& map, const Value& x, bool drops) {
    drops_ = drops;
    return std::visit([&](const auto& what) { return mapped(what, x); }, map.what);
  }

 private:
  Value mapped(const ScaleMap& map, const Value& x) { return x * map.factor; }
  Value mapped(const FlattenMap&, const Value& x) { return graph_.apply("Flatten", {x}, {{"axis", int64_t{1}}}); }

  Value mapped(const ImageMeanMap&, const Value& x) {
    return graph_.apply("ReduceMean", {x}, {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}});
  }

  Value mapped(const DropoutMap& map, const Value& x) {
    if (!drops_) return x;
    // Not the operator Dropout: onnxruntime takes several of the same input for one, and their samples for the same.
    const auto keep = 1.0 - map.layer->options.p();
    return x * cast(graph_.apply("RandomUniformLike", {x}) < keep, torch::kFloat32) / keep;
  }

  Value mapped(const DenseMap& map, const Value& x) {
    const auto values =
        graph_.apply("Gemm", {x, weights(map.layer->weight), weights(map.layer->bias)}, {{"transB", int64_t{1}}});
    return rectified(values, map.slope);
  }

  Value mapped(const ConvolutionMap& map, const Value& x) {
    const auto values = rectified(convolved(map, x), map.slope);
    if (!map.pooled) return values;
    const std::vector<int64_t> two = {2, 2};
    return graph_.apply("MaxPool", {values}, {{"kernel_shape", two}, {"strides", two}});
  }

  Value mapped(const ResidualMap& map, const Value& x) {
    const auto inner = convolved(map.second, mapped(map.first, x));
    const auto around = map.shortcut ? mapped(*map.shortcut, x) : x;
    return rectified(inner + around, map.second.slope);
  }

  // With its batch norm, before the activation.
  Value convolved(const ConvolutionMap& map, const Value& x) {
    const auto side = map.layer->weight.size(2);
    const auto stride = map.layer->options.stride()->at(0);
    std::vector<Value> operands = {x, weights(map.layer->weight)};
    if (map.layer->bias.defined()) operands.push_back(weights(map.layer->bias));
    const auto values = graph_.apply("Conv", operands,
                                     {{"kernel_shape", std::vector<int64_t>{side, side}},
                                      {"pads", std::vector<int64_t>(4, side / 2)},
                                      {"strides", std::vector<int64_t>{stride, stride}}});
    if (!map.norm) return values;
    const auto& norm = *map.norm;
    return graph_.apply(
        "BatchNormalization",
        {values, weights(norm.weight), weights(norm.bias), weights(norm.running_mean), weights(norm.running_var)},
        {{"epsilon", norm.options.eps()}});
  }

  Value weights(const torch::Tensor& tensor) {
    return graph_.tensor(prefix_ + names_.at(tensor.unsafeGetTensorImpl()), tensor);
  }

  Graph& graph_;
  std::string prefix_;
  std::map<const c10::TensorImpl*, std::string> names_;
  bool drops_ = false;
};

}  // namespace

std::vector<Value> network_logits(const Network& network, const Value& inputs, int64_t dropout_samples,
                                  const std::string& prefix) {
  NetworkGraph add(network, *inputs.owner, prefix);
  const auto maps = network.maps();
  size_t fixed = maps.size();
  if (dropout_samples > 0)
    for (fixed = 0; fixed < maps.size() && !std::holds_alternative<DropoutMap>(maps[fixed]->what);) ++fixed;
  auto values = inputs;
  for (size_t i = 0; i < fixed; ++i) values = add(*maps[i], values, false);
  if (dropout_samples == 0) return {values};
  std::vector<Value> samples;
  for (int64_t s = 0; s < dropout_samples; ++s) {
    auto sample = values;
    for (size_t i = fixed; i < maps.size(); ++i) sample = add(*maps[i], sample, true);
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace priornet::graph
