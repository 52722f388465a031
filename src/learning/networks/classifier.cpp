#include <priornet/learning/classifier.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>
#include <torch/nn/modules/dropout.h>

#include <algorithm>

#include "uncertainty/core/checks.h"

namespace priornet {

torch::Tensor Classifier::features(const torch::Tensor&) {
  throw ArgumentError(fmt::format("{}: the classifier gives no features", name()));
}

torch::Tensor Classifier::from_features(const torch::Tensor&) {
  throw ArgumentError(fmt::format("{}: the classifier gives no features", name()));
}

Activations Classifier::activations(const torch::Tensor& inputs, bool) {
  if (!gives_features()) return {forward(inputs), {}, {}};
  const auto found = features(inputs);
  return {from_features(found), found, {}};
}

torch::Tensor channel_moments(const torch::Tensor& maps) {
  if (maps.dim() != 4)
    throw ArgumentError(
        fmt::format("channel_moments: maps should be [N, C, H, W], found [{}]", fmt::join(maps.sizes(), ", ")));
  const auto values = maps.to(torch::kFloat32);
  return torch::cat({values.mean({2, 3}), values.square().mean({2, 3}).sqrt()}, 1);
}

bool Classifier::has_dropout() const {
  const auto all = modules();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& module) { return module->template as<torch::nn::Dropout>() != nullptr; });
}

std::vector<LayerSummary> Classifier::describe() const { return {{name(), {classes()}, parameter_count(*this), 0}}; }

namespace {

class ModuleClassifier final : public Classifier {
 public:
  ModuleClassifier(std::shared_ptr<torch::nn::Module> module, ModuleOptions options) : options_(std::move(options)) {
    check_range("as_classifier", "classes", options_.classes >= 2, "at least 2", static_cast<double>(options_.classes));
    if (!options_.forward) throw ArgumentError("as_classifier: should be given a forward function, found none");
    if (static_cast<bool>(options_.features) != static_cast<bool>(options_.from_features))
      throw ArgumentError("as_classifier: should be given both features and from_features, or neither");
    register_module("module", std::move(module));
  }

  torch::Tensor forward(const torch::Tensor& inputs) override {
    check_inputs(inputs);
    return options_.forward(inputs);
  }
  const std::vector<int64_t>& input_shape() const override { return options_.input_shape; }
  int64_t classes() const override { return options_.classes; }

  bool gives_features() const override { return static_cast<bool>(options_.features); }
  torch::Tensor features(const torch::Tensor& inputs) override {
    if (!gives_features()) return Classifier::features(inputs);
    check_inputs(inputs);
    return options_.features(inputs);
  }
  torch::Tensor from_features(const torch::Tensor& features) override {
    return gives_features() ? options_.from_features(features) : Classifier::from_features(features);
  }
  std::vector<torch::Tensor> last_parameters() const override { return options_.last_parameters; }

 private:
  void check_inputs(const torch::Tensor& inputs) const {
    if (inputs.dim() == 0 || inputs.sizes().slice(1) != torch::IntArrayRef(options_.input_shape))
      throw ArgumentError(fmt::format("classifier: inputs should be [N, {}], found [{}]",
                                      fmt::join(options_.input_shape, ", "), fmt::join(inputs.sizes(), ", ")));
  }

  ModuleOptions options_;
};

}  // namespace

std::shared_ptr<Classifier> as_classifier(std::shared_ptr<torch::nn::Module> module, ModuleOptions options) {
  return std::make_shared<ModuleClassifier>(std::move(module), std::move(options));
}

void to_channels_last(Classifier& classifier) {
  for (auto& parameter : classifier.parameters())
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
}

int64_t multiply_adds(const Classifier& classifier) {
  int64_t sum = 0;
  for (const auto& row : classifier.describe()) sum += row.multiply_adds;
  return sum;
}

int64_t parameter_count(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const auto& parameter : module.parameters()) count += parameter.numel();
  return count;
}

}  // namespace priornet
