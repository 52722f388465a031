#include <priornet/models/mlp.h>

#include <fmt/format.h>
#include <priornet/core/checks.h>

#include <cmath>

namespace priornet {

MLPImpl::MLPImpl(const MLPOptions& options, const at::Generator& generator) : options_(options) {
  check_range("MLP", "inputs", options.inputs >= 1, "at least 1", static_cast<double>(options.inputs));
  check_range("MLP", "classes", options.classes >= 2, "at least 2", static_cast<double>(options.classes));
  for (const auto units : options.hidden)
    check_range("MLP", "hidden", units >= 1, "at least 1 unit a layer", static_cast<double>(units));
  auto sizes = options.hidden;
  sizes.push_back(options.classes);
  int64_t fan_in = options.inputs;
  torch::NoGradGuard no_grad;
  for (const auto units : sizes) {
    torch::nn::Linear layer(fan_in, units);
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
    layer->weight.uniform_(-bound, bound, generator);
    layer->bias.uniform_(-bound, bound, generator);
    layers_.push_back(register_module(fmt::format("layer{}", layers_.size()), std::move(layer)));
    fan_in = units;
  }
}

torch::Tensor MLPImpl::forward(const torch::Tensor& points) {
  check_rank("MLP", "points", points, 2);
  check_range("MLP", "the second size of points", points.size(1) == options_.inputs, std::to_string(options_.inputs),
              static_cast<double>(points.size(1)));
  auto values = options_.input_scale == 1.0 ? points : points * options_.input_scale;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) values = values.relu();
    values = layers_[i]->forward(values);
  }
  return values;
}

}  // namespace priornet
