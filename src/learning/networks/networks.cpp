#include <priornet/learning/networks.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/networks/layers.h"
#include "learning/networks/mlp.h"
#include "learning/networks/resnet.h"
#include "learning/networks/torchscript.h"
#include "learning/networks/vgg.h"
#include "learning/networks/wide_resnet.h"

namespace priornet {
namespace {

using Given = const ModelOptions&;

struct OptionInfo {
  std::string_view name;
  bool (*is_given)(Given);
  std::string_view meaning;
};

constexpr OptionInfo kOptions[] = {
    {"blocks", [](Given g) { return g.blocks.has_value(); }, "channels of each convolution, one list per block"},
    {"channels", [](Given g) { return g.channels.has_value(); }, "channels of each group of blocks"},
    {"dense", [](Given g) { return g.dense.has_value(); }, "units of each dense layer before the logits"},
    {"slope", [](Given g) { return g.slope.has_value(); }, "of the activation below 0"},
    {"keep_convolution", [](Given g) { return g.keep_convolution.has_value(); },
     "probability of keeping a value after a convolution"},
    {"keep_dense", [](Given g) { return g.keep_dense.has_value(); },
     "probability of keeping a value before the logits, and after each dense layer"},
    {"batch_norm", [](Given g) { return g.batch_norm.has_value(); }, "whether batch norm follows each convolution"},
    {"gain", [](Given g) { return g.gain.has_value(); },
     "variance of a weight at the start, times its fan-in; else He's"},
};

const std::vector<std::string> kMlp = {"dense", "slope", "keep_dense"};
const std::vector<std::string> kVgg = {"blocks",     "dense",      "slope", "keep_convolution",
                                       "keep_dense", "batch_norm", "gain"};
const std::vector<std::string> kResNet = {"channels", "keep_dense"};
const std::vector<std::string> kWideResNet = {"channels", "keep_convolution", "keep_dense"};

std::vector<ModelInfo>& open_table() {
  static std::vector<ModelInfo> table = {
      {"mlp", "a perceptron for rows of numbers", kMlp, [](Given given) { return mlp_plan(given); }},
      {"vgg6", "the paper's network for MNIST", kVgg, [](Given given) { return vgg_plan(vgg6(), given); }},
      {"vgg16", "the paper's network for CIFAR-10 and SVHN", kVgg,
       [](Given given) { return vgg_plan(vgg16(), given); }},
      {"resnet18", "18 layers with shortcuts; above 64 pixels it begins as ImageNet's does", kResNet,
       [](Given given) { return resnet_plan(resnet18(), given); }},
      {"resnet34", "resnet18 with 34 layers", kResNet, [](Given given) { return resnet_plan(resnet34(), given); }},
      {"resnet50", "resnet18 with 50 layers, in bottlenecks", kResNet,
       [](Given given) { return resnet_plan(resnet50(), given); }},
      {"wide-resnet-28-10", "28 layers with shortcuts, ten times as wide as the first ResNets for CIFAR-10",
       kWideResNet, [](Given given) { return wide_resnet_plan({}, given); }},
  };
  return table;
}

const ModelInfo& row_of(const std::string& name) {
  for (const auto& row : model_table())
    if (row.name == name) return row;
  throw ConfigError(fmt::format("there is no model {}: should be one of {}", name, fmt::join(model_names(), ", ")));
}

bool has_option(const ModelInfo& row, std::string_view option) {
  return std::find(row.options.begin(), row.options.end(), option) != row.options.end();
}

const ModelInfo& checked_row(const ModelOptions& options) {
  const auto& row = row_of(options.name);
  for (const auto& known : kOptions)
    if (known.is_given(options) && !has_option(row, known.name))
      throw ConfigError(fmt::format("model {} has no option {}", options.name, known.name));
  return row;
}

bool is_torchscript(const ModelOptions& options) { return options.file.has_value() || options.program.defined(); }

void check_normalisation(const ModelOptions& options) {
  if (options.mean.has_value() != options.deviation.has_value())
    throw ConfigError("data.mean and data.deviation should be given together");
  if (!options.mean) return;
  if (options.input.size() != 3)
    throw ConfigError("data.mean and data.deviation are for images; rows of numbers are standardised");
  const auto channels = static_cast<size_t>(options.input[0]);
  if (options.mean->size() != channels || options.deviation->size() != channels)
    throw ConfigError(
        fmt::format("data.mean and data.deviation should have {} numbers each, one per channel", channels));
  for (const auto deviation : *options.deviation)
    if (!(deviation > 0.0)) throw ConfigError(fmt::format("data.deviation should be above 0, found {}", deviation));
}

}  // namespace

const std::vector<ModelInfo>& model_table() { return open_table(); }

void register_model(ModelInfo info) {
  if (!info.plan && !info.make)
    throw ArgumentError(fmt::format("register_model: {} should have a plan or a function that makes it", info.name));
  for (const auto& row : model_table())
    if (row.name == info.name) throw ArgumentError(fmt::format("register_model: {} is taken", info.name));
  open_table().push_back(std::move(info));
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& row : model_table()) names.push_back(row.name);
  return names;
}

std::string model_option_meaning(std::string_view option) {
  for (const auto& known : kOptions) {
    if (known.name != option) continue;
    std::vector<std::string_view> networks;
    for (const auto& row : model_table())
      if (has_option(row, option)) networks.push_back(row.name);
    return fmt::format("{}: {}", fmt::join(networks, ", "), known.meaning);
  }
  throw ArgumentError(fmt::format("networks have no option {}", option));
}

std::optional<NetworkPlan> plan_model(const ModelOptions& options) {
  check_normalisation(options);
  if (is_torchscript(options)) return std::nullopt;
  const auto& row = checked_row(options);
  if (!row.plan) return std::nullopt;
  auto plan = row.plan(options);
  if (options.mean) plan.prepend("scale", std::make_shared<NormaliseLayer>(*options.mean, *options.deviation));
  return plan;
}

std::shared_ptr<Classifier> make_model(const ModelOptions& options, const at::Generator& generator) {
  if (auto plan = plan_model(options)) return std::make_shared<Network>(*std::move(plan), generator);
  if (is_torchscript(options)) return make_torchscript(options, generator);
  return checked_row(options).make(options, generator);
}

}  // namespace priornet
