#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

class Classifier;
class NetworkPlan;

/// A network by name, or from a TorchScript file. An option that is not given has the default of that network; an
/// option that the network does not have is refused.
struct ModelOptions {
  std::string name = "vgg6";        ///< one of model_names(); ignored if there is a file
  std::optional<std::string> file;  ///< of a network that PyTorch scripted or traced
  torch::Tensor program;            ///< the bytes of that file, if they are already in memory: uint8 [B]
  std::vector<int64_t> input;       ///< shape of one input: [features] or [channels, height, width]
  int64_t classes = 0;

  // model_option_meaning() says what each option is, and which networks have it.
  std::optional<std::vector<std::vector<int64_t>>> blocks;
  std::optional<std::vector<int64_t>> channels;
  std::optional<std::vector<int64_t>> dense;
  std::optional<double> slope;
  std::optional<double> keep_convolution;
  std::optional<double> keep_dense;
  std::optional<bool> batch_norm;
  std::optional<double> gain;

  /// Added to every concentration, alpha = prior + e^logit, by a network made of layers; none: alpha = e^logit.
  std::optional<double> prior;

  /// Replaces the last layer of such a network: one density per class in a space of this many dimensions; its
  /// logarithm, plus ln density_rows (1000 unless given), is the logit.
  std::optional<int64_t> density;
  std::optional<double> density_rows;

  // For images, per channel of values in [0, 1]: the network takes (value - mean) / deviation. Give both or none; none:
  // values in [-1, 1].
  std::optional<std::vector<double>> mean;
  std::optional<std::vector<double>> deviation;
};

/// A row of the table of networks.
struct ModelInfo {
  std::string name;
  std::string summary;               ///< in one line, for the manual
  std::vector<std::string> options;  ///< the options of ModelOptions that it has
  /// For a network made of layers, whose size is known before it has weights; empty for others.
  std::function<NetworkPlan(const ModelOptions& options)> plan;
  /// For any other network: draws from the generator alone.
  std::function<std::shared_ptr<Classifier>(const ModelOptions& options, const at::Generator& generator)> make = {};
};

/// The networks that can be made by name.
const std::vector<ModelInfo>& model_table();
std::vector<std::string> model_names();

/// What an option of ModelOptions means: "vgg6, vgg16: channels of each convolution, one list per block". ArgumentError
/// for another name.
std::string model_option_meaning(std::string_view option);

/// Adds your own network to the table: configurations, training, runs and model files know it by its name from then on.
/// Call it before anything else asks for networks, in each program that opens such a run or model file. ArgumentError
/// for a name that is taken, or if there is neither a plan nor a function that makes the network.
void register_model(ModelInfo info);

/// The layers of a network, which need no memory yet: plan.size() says how large it would be. Nothing for a network
/// that is not made of layers. ConfigError for an unknown name, or an option that the network does not have;
/// ArgumentError for a value that makes no sense.
std::optional<NetworkPlan> plan_model(const ModelOptions& options);

/// A network with weights, drawn from the generator alone. Throws as plan_model().
std::shared_ptr<Classifier> make_model(const ModelOptions& options, const at::Generator& generator);

/// Loads the weights of a safetensors file, by our names (those of a checkpoint or model file of one network) or, for
/// ResNets, by torchvision's. The last layer stays as it was if the classes differ. DataError that names the file and
/// what does not fit: a tensor that is missing or has another shape.
void load_pretrained(Classifier& network, const std::filesystem::path& weights);

}  // namespace priornet
