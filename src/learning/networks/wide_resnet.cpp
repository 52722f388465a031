#include "learning/networks/wide_resnet.h"

#include <fmt/format.h>

#include "learning/networks/convolution.h"
#include "learning/networks/layers.h"

namespace priornet {
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
