#include <priornet/learning/networks.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "learning/networks/architectures.h"
#include "learning/networks/density_layer.h"
#include "learning/networks/layers.h"
#include "learning/networks/torchscript.h"

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
    {"slope", [](Given g) { return g.slope.has_value(); }, "slope of the activation below 0"},
    {"keep_convolution", [](Given g) { return g.keep_convolution.has_value(); },
     "probability of keeping a value after a convolution"},
    {"keep_dense", [](Given g) { return g.keep_dense.has_value(); },
     "probability of keeping a value before the logits, and after each dense layer"},
    {"batch_norm", [](Given g) { return g.batch_norm.has_value(); }, "whether batch norm follows each convolution"},
    {"gain", [](Given g) { return g.gain.has_value(); },
     "variance of a weight at the start, times its fan-in; by default He's"},
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
      {"resnet18",
       "18 layers with shortcuts; for images above 64 pixels its first layers are those of the ImageNet version",
       kResNet, [](Given given) { return resnet_plan(resnet18(), given); }},
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

bool is_program(const ModelOptions& options) { return options.file.has_value() || options.program.defined(); }

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
    if (row.name == info.name) throw ArgumentError(fmt::format("register_model: the name {} is taken", info.name));
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
  const auto* row = is_program(options) ? nullptr : &checked_row(options);
  if (row == nullptr || !row->plan) {
    if (options.prior) throw ConfigError("model.prior is for networks made of layers; this network is not");
    if (options.density) throw ConfigError("model.density is for networks made of layers; this network is not");
    return std::nullopt;
  }
  auto plan = row->plan(options);
  if (options.density)
    plan.wrap_last([&](const auto&) {
      return std::make_shared<DensityLayer>(DensityOptions{.inputs = plan.shape_before(plan.layers() - 1).at(0),
                                                           .classes = plan.classes(),
                                                           .dimensions = *options.density,
                                                           .rows = options.density_rows.value_or(1000.0)});
    });
  if (options.prior)
    plan.wrap_last([&](auto last) { return std::make_shared<EvidenceLayer>(std::move(last), *options.prior); });
  if (options.mean) plan.prepend("scale", std::make_shared<NormaliseLayer>(*options.mean, *options.deviation));
  return plan;
}

std::shared_ptr<Classifier> make_model(const ModelOptions& options, const at::Generator& generator) {
  if (auto plan = plan_model(options)) return std::make_shared<Network>(*std::move(plan), generator);
  if (is_program(options)) return make_program(options, generator);
  return checked_row(options).make(options, generator);
}

namespace {

// torchvision's name for a tensor of our ResNets: block2_1.shortcut_norm.weight is its layer2.0.downsample.1.weight.
// Empty for a tensor of another network.
std::string torchvision_name(const std::string& ours) {
  static const std::map<std::string, std::string> kParts = {
      {"first", "conv1"}, {"first_norm", "bn1"}, {"second", "conv2"},          {"second_norm", "bn2"},
      {"third", "conv3"}, {"third_norm", "bn3"}, {"shortcut", "downsample.0"}, {"shortcut_norm", "downsample.1"}};
  static const std::map<std::string, std::string> kEnds = {{"conv", "conv1"}, {"conv_norm", "bn1"}, {"logits", "fc"}};
  const auto first_dot = ours.find('.');
  const auto last_dot = ours.rfind('.');
  if (first_dot == std::string::npos) return "";
  const auto tensor = ours.substr(last_dot + 1);
  int stage = 0;
  int block = 0;
  if (std::sscanf(ours.c_str(), "block%d_%d.", &stage, &block) == 2 && first_dot < last_dot) {
    const auto part = kParts.find(ours.substr(first_dot + 1, last_dot - first_dot - 1));
    return part == kParts.end() ? "" : fmt::format("layer{}.{}.{}.{}", stage, block - 1, part->second, tensor);
  }
  const auto end = kEnds.find(ours.substr(0, last_dot));
  return end == kEnds.end() ? "" : fmt::format("{}.{}", end->second, tensor);
}

class Pretrained {
 public:
  explicit Pretrained(const std::filesystem::path& path) : file_(read_tensor_file(path)) {
    for (const auto& [name, values] : file_.tensors) tensors_.emplace(name, values);
  }

  void load_into(Classifier& network) {
    std::vector<std::pair<torch::Tensor, torch::Tensor>> copies;
    std::vector<std::string> misfits;
    const auto last = network.last_parameters();
    const auto take = [&](const std::string& name, const torch::Tensor& values) {
      const auto* found = find(name);
      if (found != nullptr && found->sizes() == values.sizes()) {
        copies.emplace_back(values, *found);
        return;
      }
      const auto is_this = [&](const torch::Tensor& other) { return other.is_same(values); };
      if (std::any_of(last.begin(), last.end(), is_this)) return;  // another number of classes
      misfits.push_back(found == nullptr
                            ? fmt::format("{} [{}] is not there", name, fmt::join(values.sizes(), ", "))
                            : fmt::format("{} is [{}], should be [{}]", name, fmt::join(found->sizes(), ", "),
                                          fmt::join(values.sizes(), ", ")));
    };
    for (const auto& item : network.named_parameters()) take(item.key(), item.value());
    for (const auto& item : network.named_buffers())
      if (!is_own(item.key())) take(item.key(), item.value());
    if (!misfits.empty())
      throw DataError(fmt::format("{}: does not fit the network: {}{}", file_.path, misfits[0],
                                  misfits.size() == 1 ? "" : fmt::format(", and {} more", misfits.size() - 1)));
    const torch::NoGradGuard no_gradient;
    for (auto& [to, from] : copies) to.copy_(from);
  }

 private:
  // Not learnt: the normalisation of the inputs, which the configuration gives, and a count that only older files lack.
  static bool is_own(const std::string& name) {
    return name.starts_with("scale.") || name.ends_with("num_batches_tracked");
  }

  const torch::Tensor* find(const std::string& name) const {
    for (const auto& known : {name, "network." + name, "member-1.network." + name, torchvision_name(name)})
      if (const auto found = tensors_.find(known); found != tensors_.end()) return &found->second;
    return nullptr;
  }

  TensorFile file_;
  std::map<std::string, torch::Tensor> tensors_;
};

}  // namespace

void load_pretrained(Classifier& network, const std::filesystem::path& weights) {
  Pretrained(weights).load_into(network);
}

}  // namespace priornet
