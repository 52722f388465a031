#include <priornet/learning/networks.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include "learning/networks/mlp.h"
#include "learning/networks/resnet.h"
#include "learning/networks/vgg.h"

namespace priornet {
namespace {

template <class T>
void override_with(T& value, const std::optional<T>& given) {
  if (given) value = *given;
}

// Throws if an option is given that the network does not have.
template <class T>
void refuse(const ModelOptions& options, std::string_view option, const std::optional<T>& given) {
  if (given) throw ConfigError(fmt::format("model {} has no option {}", options.name, option));
}

std::shared_ptr<Network> make_mlp(const ModelOptions& options, const at::Generator& generator) {
  refuse(options, "blocks", options.blocks);
  refuse(options, "channels", options.channels);
  refuse(options, "keep_convolution", options.keep_convolution);
  refuse(options, "batch_norm", options.batch_norm);
  refuse(options, "gain", options.gain);
  if (options.input.size() != 1)
    throw ConfigError(
        fmt::format("model mlp takes rows of numbers, not inputs of shape [{}]", fmt::join(options.input, ", ")));
  MLPOptions mlp{.inputs = options.input[0], .hidden = {100, 100}, .classes = options.classes};
  override_with(mlp.hidden, options.dense);
  override_with(mlp.slope, options.slope);
  override_with(mlp.keep, options.keep_dense);
  return std::make_shared<MLPImpl>(mlp, generator);
}

std::shared_ptr<Network> make_vgg(VGGOptions vgg, const ModelOptions& options, const at::Generator& generator) {
  refuse(options, "channels", options.channels);
  vgg.input = options.input;
  vgg.classes = options.classes;
  override_with(vgg.blocks, options.blocks);
  override_with(vgg.dense, options.dense);
  override_with(vgg.slope, options.slope);
  override_with(vgg.keep_convolution, options.keep_convolution);
  override_with(vgg.keep_dense, options.keep_dense);
  override_with(vgg.batch_norm, options.batch_norm);
  if (options.gain) vgg.gain = options.gain;
  return std::make_shared<VGGImpl>(vgg, generator);
}

std::shared_ptr<Network> make_resnet(const ModelOptions& options, const at::Generator& generator) {
  refuse(options, "blocks", options.blocks);
  refuse(options, "dense", options.dense);
  refuse(options, "slope", options.slope);
  refuse(options, "keep_convolution", options.keep_convolution);
  refuse(options, "batch_norm", options.batch_norm);
  refuse(options, "gain", options.gain);
  ResNetOptions resnet;
  resnet.input = options.input;
  resnet.classes = options.classes;
  override_with(resnet.channels, options.channels);
  override_with(resnet.keep_dense, options.keep_dense);
  return std::make_shared<ResNetImpl>(resnet, generator);
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = {"mlp", "vgg6", "vgg16", "resnet18"};
  return names;
}

std::shared_ptr<Network> make_model(const ModelOptions& options, const at::Generator& generator) {
  if (options.name == "mlp") return make_mlp(options, generator);
  if (options.name == "vgg6") return make_vgg(vgg6(), options, generator);
  if (options.name == "vgg16") return make_vgg(vgg16(), options, generator);
  if (options.name == "resnet18") return make_resnet(options, generator);
  throw ConfigError(
      fmt::format("there is no model {}: should be one of {}", options.name, fmt::join(model_names(), ", ")));
}

}  // namespace priornet
