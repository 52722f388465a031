#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

class Network;
class NetworkPlan;

/// A network by name. What is not given is the default of that network; what it does not have is refused.
struct ModelOptions {
  std::string name = "vgg6";   ///< one of model_names()
  std::vector<int64_t> input;  ///< shape of one input: [features] or [channels, height, width]
  int64_t classes = 0;

  // model_option_meaning() says what each is, and which networks have it.
  std::optional<std::vector<std::vector<int64_t>>> blocks;
  std::optional<std::vector<int64_t>> channels;
  std::optional<std::vector<int64_t>> dense;
  std::optional<double> slope;
  std::optional<double> keep_convolution;
  std::optional<double> keep_dense;
  std::optional<bool> batch_norm;
  std::optional<double> gain;
};

/// A row of the table of networks.
struct ModelInfo {
  std::string name;
  std::string summary;               ///< in one line, for the manual
  std::vector<std::string> options;  ///< those of ModelOptions that it has
  NetworkPlan (*plan)(const ModelOptions& options);
};

/// The networks that can be made by name.
const std::vector<ModelInfo>& model_table();
const std::vector<std::string>& model_names();

/// Of an option of ModelOptions: "vgg6, vgg16: channels of each convolution, one list per block". ArgumentError for
/// another name.
std::string model_option_meaning(std::string_view option);

/// The layers of a network, which need no memory yet: plan.size() says how large it would be. ConfigError for an
/// unknown name, or an option that the network does not have; ArgumentError for a value that makes no sense.
NetworkPlan plan_model(const ModelOptions& options);

/// plan_model() with weights, drawn from the generator alone.
std::shared_ptr<Network> make_model(const ModelOptions& options, const at::Generator& generator);

}  // namespace priornet
