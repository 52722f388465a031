#include "learning/networks/architectures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/networks/layers.h"
#include "uncertainty/core/checks.h"

namespace priornet {

NetworkPlan mlp_plan(const MLPOptions& options) {
  NetworkPlan plan({options.inputs}, options.classes);
  for (const auto units : options.hidden)
    check_range("MLP", "hidden", units >= 1, "at least 1 unit per layer", static_cast<double>(units));
  check_keep("MLP", "keep", options.keep);
  if (options.input_scale != 1.0) plan.add("", std::make_shared<ScaleLayer>(options.input_scale));
  for (size_t i = 0; i <= options.hidden.size(); ++i) {
    const bool last = i == options.hidden.size();
    DenseOptions dense;
    dense.inputs = plan.shape()[0];
    dense.units = last ? options.classes : options.hidden[i];
    if (last) dense.name = "logits";
    if (!last) dense.slope = options.slope;
    plan.add(fmt::format("layer{}", i), std::make_shared<DenseLayer>(dense));
    if (!last && options.keep < 1.0)
      plan.add(fmt::format("dropout{}", i), std::make_shared<DropoutLayer>(options.keep));
  }
  return plan;
}

NetworkPlan mlp_plan(const ModelOptions& given) {
  if (given.input.size() != 1)
    throw ConfigError(
        fmt::format("model mlp takes rows of numbers, not inputs of shape [{}]", fmt::join(given.input, ", ")));
  MLPOptions options{.inputs = given.input[0], .hidden = {100, 100}, .classes = given.classes};
  options.hidden = given.dense.value_or(options.hidden);
  options.slope = given.slope.value_or(options.slope);
  options.keep = given.keep_dense.value_or(options.keep);
  return mlp_plan(options);
}

namespace {

void check_takes_images(const ModelOptions& given) {
  if (given.input.size() == 1)
    throw ConfigError(
        fmt::format("model {} takes images, not rows of numbers (inputs of shape [{}])", given.name, given.input[0]));
}

void check(const VGGOptions& options) {
  check_image("VGG", options.input);
  int64_t side = std::min(options.input[1], options.input[2]);
  for (const auto& block : options.blocks) {
    check_range("VGG", "each block", !block.empty(), "at least one convolution", 0);
    for (const auto channels : block)
      check_range("VGG", "channels", channels >= 1, "at least 1", static_cast<double>(channels));
    side /= 2;
  }
  check_range("VGG", "the image", side >= 1, fmt::format("large enough to be halved {} times", options.blocks.size()),
              static_cast<double>(std::min(options.input[1], options.input[2])));
  for (const auto units : options.dense)
    check_range("VGG", "dense", units >= 1, "at least 1 unit per layer", static_cast<double>(units));
  if (options.gain) check_range("VGG", "gain", *options.gain > 0.0, "above 0", *options.gain);
  for (const auto keep : {options.keep_convolution, options.keep_dense})
    check_keep("VGG", "each keep probability", keep);
}

}  // namespace

VGGOptions vgg6() { return {}; }

VGGOptions vgg16() {
  VGGOptions options;
  options.input = {3, 32, 32};
  options.blocks = {{64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}};
  options.dense = {2048, 2048};
  options.slope = 0.2;
  return options;
}

NetworkPlan vgg_plan(const VGGOptions& options) {
  NetworkPlan plan(options.input, options.classes);
  check(options);
  const auto slope = options.slope;
  const auto gain = options.gain.value_or(he_gain(slope));
  const auto add_dropout = [&](const std::string& after, double keep) {
    if (keep < 1.0) plan.add(after + "_dropout", std::make_shared<DropoutLayer>(keep));
  };
  int64_t convolutions = 0;
  for (const auto& block : options.blocks)
    for (size_t i = 0; i < block.size(); ++i) {
      const auto key = fmt::format("conv{}", ++convolutions);
      const bool last = i + 1 == block.size();
      plan.add(key, std::make_shared<ConvolutionLayer>(ConvolutionOptions{.from = plan.shape()[0],
                                                                          .to = block[i],
                                                                          .norm = options.batch_norm,
                                                                          .slope = slope,
                                                                          .gain = gain,
                                                                          .pooled = last}));
      if (!last) add_dropout(key, options.keep_convolution);
    }
  plan.add("", std::make_shared<FlattenLayer>());
  int64_t dense = 0;
  for (const auto units : options.dense) {
    const auto key = fmt::format("dense{}", ++dense);
    plan.add(key, std::make_shared<DenseLayer>(
                      DenseOptions{.inputs = plan.shape()[0], .units = units, .slope = slope, .gain = gain}));
    add_dropout(key, options.keep_dense);
  }
  plan.add("logits", logits_layer(plan));
  return plan;
}

NetworkPlan vgg_plan(VGGOptions defaults, const ModelOptions& given) {
  check_takes_images(given);
  auto& options = defaults;
  options.input = given.input;
  options.classes = given.classes;
  options.blocks = given.blocks.value_or(options.blocks);
  options.dense = given.dense.value_or(options.dense);
  options.slope = given.slope.value_or(options.slope);
  options.keep_convolution = given.keep_convolution.value_or(options.keep_convolution);
  options.keep_dense = given.keep_dense.value_or(options.keep_dense);
  options.batch_norm = given.batch_norm.value_or(options.batch_norm);
  if (given.gain) options.gain = given.gain;
  return vgg_plan(options);
}

namespace {

constexpr int64_t kLargestSmallImage = 64;  // pixels

ConvolutionOptions normed_convolution(int64_t from, int64_t to, int64_t side, int64_t stride) {
  return {.from = from, .to = to, .side = side, .stride = stride, .norm = true};
}

std::vector<ConvolutionOptions> inner_convolutions(int64_t from, int64_t channels, int64_t stride, bool bottleneck) {
  if (!bottleneck) return {normed_convolution(from, channels, 3, stride), normed_convolution(channels, channels, 3, 1)};
  return {normed_convolution(from, channels, 1, 1), normed_convolution(channels, channels, 3, stride),
          normed_convolution(channels, size_product(channels, 4), 1, 1)};
}

// relu(x + f(x)), f two or three convolutions; x goes through a 1x1 convolution where its shape changes.
std::shared_ptr<Layer> residual_block(int64_t from, int64_t channels, int64_t stride, bool bottleneck) {
  const auto inner = inner_convolutions(from, channels, stride, bottleneck);
  const auto to = inner.back().to;
  if (from == to && stride == 1) return std::make_shared<ResidualLayer>(inner, std::nullopt);
  auto shortcut = normed_convolution(from, to, 1, stride);
  shortcut.slope = kNoActivation;
  return std::make_shared<ResidualLayer>(inner, shortcut);
}

}  // namespace

ResNetOptions resnet18() { return {}; }

ResNetOptions resnet34() {
  ResNetOptions options;
  options.blocks = {3, 4, 6, 3};
  return options;
}

ResNetOptions resnet50() {
  auto options = resnet34();
  options.bottleneck = true;
  return options;
}

NetworkPlan resnet_plan(ResNetOptions defaults, const ModelOptions& given) {
  check_takes_images(given);
  auto& options = defaults;
  options.channels = given.channels.value_or(options.channels);
  options.keep_dense = given.keep_dense.value_or(options.keep_dense);
  NetworkPlan plan(given.input, given.classes);
  check_image("ResNet", given.input);
  check_groups("ResNet", options.channels);
  check_keep("ResNet", "keep_dense", options.keep_dense);
  const bool large = std::max(given.input[1], given.input[2]) > kLargestSmallImage;
  plan.add("conv", std::make_shared<ConvolutionLayer>(
                       normed_convolution(given.input[0], options.channels[0], large ? 7 : 3, large ? 2 : 1)));
  if (large) plan.add("", std::make_shared<MaxPoolLayer>(3, LayerWriter::Window{2, 1}));
  for (size_t group = 0; group < options.channels.size(); ++group)
    for (int64_t i = 0; i < options.blocks[std::min(group, options.blocks.size() - 1)]; ++i)
      plan.add(
          fmt::format("block{}_{}", group + 1, i + 1),
          residual_block(plan.shape()[0], options.channels[group], group > 0 && i == 0 ? 2 : 1, options.bottleneck));
  add_pooled_logits(plan, options.keep_dense);
  return plan;
}

namespace {

namespace nn = torch::nn;

constexpr int64_t kFirstChannels = 16;

ConvolutionOptions plain_convolution(int64_t from, int64_t to, int64_t side, int64_t stride) {
  return {.from = from, .to = to, .side = side, .stride = stride, .bias = false, .slope = kNoActivation};
}

/// relu(batch norm of x): where the last block ends.
class NormLayer : public Layer {
 public:
  explicit NormLayer(int64_t channels) : channels_(channels) {}
  std::string label() const override { return "batch norm, ReLU"; }
  Shape output_shape(const Shape& input) const override { return input; }
  Size size(const Shape&) const override { return {2.0 * static_cast<double>(channels_), 0.0}; }
  void make_weights(const at::Generator&) override { norm_ = nn::BatchNorm2d(channels_); }
  Modules modules() const override { return {{"", norm_.ptr()}}; }
  torch::Tensor forward(const torch::Tensor& x) override { return normed(x, norm_, 0.0); }
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override {
    return writer.rectifier(writer.batch_norm(x, written(norm_)), 0.0);
  }

 private:
  int64_t channels_;
  nn::BatchNorm2d norm_ = nullptr;
};

/// x + f(a), a = relu(batch norm of x); f: convolution, batch norm, ReLU, dropout, convolution. Where the shape
/// changes, a 1x1 convolution of a stands for x.
class WideBlock : public Layer {
 public:
  WideBlock(int64_t from, int64_t to, int64_t stride, double keep)
      : norm_(from),
        first_({.from = from, .to = to, .stride = stride, .norm = true}),
        second_(plain_convolution(to, to, 3, 1)),
        keep_(keep) {
    if (from != to || stride != 1) shortcut_.emplace(plain_convolution(from, to, 1, stride));
  }

  std::string label() const override {
    return fmt::format("wide block, {}{}", first_.options().to, first_.options().stride == 2 ? ", halved" : "");
  }
  Shape output_shape(const Shape& input) const override { return second_.output_shape(first_.output_shape(input)); }

  Size size(const Shape& input) const override {
    auto sum = norm_.size(input);
    const auto add = [&](const Size& size) {
      sum.parameters += size.parameters;
      sum.multiply_adds += size.multiply_adds;
    };
    add(first_.size(input));
    add(second_.size(first_.output_shape(input)));
    if (shortcut_) add(shortcut_->size(input));
    return sum;
  }

  void make_weights(const at::Generator& generator) override {
    block_ = std::make_shared<nn::Module>();
    const auto make = [&](Layer& layer, const std::string& name) {
      layer.make_weights(generator);
      for (const auto& [suffix, module] : layer.modules()) block_->register_module(name + suffix, module);
    };
    make(norm_, "norm");
    make(first_, "first");
    make(second_, "second");
    if (shortcut_) make(*shortcut_, "shortcut");
    if (drops()) dropout_ = block_->register_module("dropout", nn::Dropout(1.0 - keep_));
  }
  Modules modules() const override { return {{"", block_}}; }

  torch::Tensor forward(const torch::Tensor& x) override {
    const auto active = norm_.forward(x);
    auto values = first_.forward(active);
    if (drops()) values = dropout_->forward(values);
    return second_.forward(values) + (shortcut_ ? shortcut_->forward(active) : x);
  }
  bool drops() const override { return keep_ < 1.0; }

  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override {
    const auto active = norm_.write(writer, x);
    auto values = first_.write(writer, active);
    if (drops()) values = writer.dropout(values, keep_);
    return writer.add(second_.write(writer, values), shortcut_ ? shortcut_->write(writer, active) : x);
  }

 private:
  NormLayer norm_;
  ConvolutionLayer first_, second_;
  std::optional<ConvolutionLayer> shortcut_;
  double keep_;
  nn::Dropout dropout_ = nullptr;
  std::shared_ptr<nn::Module> block_;
};

}  // namespace

NetworkPlan wide_resnet_plan(WideResNetOptions defaults, const ModelOptions& given) {
  check_takes_images(given);
  auto& options = defaults;
  options.channels = given.channels.value_or(options.channels);
  options.keep_convolution = given.keep_convolution.value_or(options.keep_convolution);
  options.keep_dense = given.keep_dense.value_or(options.keep_dense);
  NetworkPlan plan(given.input, given.classes);
  check_image("WideResNet", given.input);
  check_groups("WideResNet", options.channels);
  check_keep("WideResNet", "keep_convolution", options.keep_convolution);
  check_keep("WideResNet", "keep_dense", options.keep_dense);
  plan.add("conv", std::make_shared<ConvolutionLayer>(plain_convolution(given.input[0], kFirstChannels, 3, 1)));
  for (size_t group = 0; group < options.channels.size(); ++group)
    for (int64_t i = 0; i < options.blocks; ++i)
      plan.add(fmt::format("block{}_{}", group + 1, i + 1),
               std::make_shared<WideBlock>(plan.shape()[0], options.channels[group], group > 0 && i == 0 ? 2 : 1,
                                           options.keep_convolution));
  plan.add("norm", std::make_shared<NormLayer>(plan.shape()[0]));
  add_pooled_logits(plan, options.keep_dense);
  return plan;
}

}  // namespace priornet
