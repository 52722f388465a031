#pragma once

#include <ATen/core/Generator.h>
#include <priornet/learning/network.h>

#include <memory>
#include <optional>
#include <string_view>

namespace priornet {

/// A network by name. What is not given is the default of that network; what it does not have is refused.
struct ModelOptions {
  std::string name = "vgg6";   ///< mlp, vgg6, vgg16, resnet18
  std::vector<int64_t> input;  ///< shape of one input: [features] or [channels, height, width]
  int64_t classes = 0;
  std::optional<std::vector<std::vector<int64_t>>> blocks;  ///< vgg: channels of each convolution, a list a block
  std::optional<std::vector<int64_t>> channels;             ///< resnet18: of each group of blocks
  std::optional<std::vector<int64_t>> dense;                ///< mlp, vgg: units of each dense layer before the logits
  std::optional<double> slope;                              ///< mlp, vgg: of the activation below 0
  std::optional<double> keep_convolution;                   ///< vgg
  std::optional<double> keep_dense;                         ///< all
  std::optional<bool> batch_norm;                           ///< vgg
  std::optional<double> gain;                               ///< vgg: of the weights at the start
};

/// Of the networks that can be made.
const std::vector<std::string>& model_names();

/// ConfigError for an unknown name, or an option that the network does not have; ArgumentError for a value that makes
/// no sense.
std::shared_ptr<Network> make_model(const ModelOptions& options, const at::Generator& generator);

}  // namespace priornet
