#include "learning/networks/resnet.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <torch/nn/init.h>

#include "learning/networks/stage_map.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

namespace nn = torch::nn;

constexpr double kRelu = 0.0;  // the slope below zero

nn::Conv2d convolution(int64_t from, int64_t to, int64_t side, int64_t stride, const at::Generator& generator) {
  nn::Conv2d layer(nn::Conv2dOptions(from, to, side).padding(side / 2).stride(stride).bias(false));
  initialise_normal(layer->weight, he_gain(0.0), generator);
  return layer;
}

// The layers of relu(x + f(x)), f two convolutions with batch norm; x goes through a 1x1 convolution where its shape
// changes.
class BlockImpl : public nn::Module {
 public:
  BlockImpl(int64_t from, int64_t to, int64_t stride, const at::Generator& generator)
      : map_{part("first", convolution(from, to, 3, stride, generator), kRelu),
             part("second", convolution(to, to, 3, 1, generator), kRelu),
             {}} {
    if (from == to && stride == 1) return;
    map_.shortcut = part("shortcut", convolution(from, to, 1, stride, generator), kNoActivation);
  }

  const ResidualMap& map() const { return map_; }

 private:
  ConvolutionMap part(const std::string& name, nn::Conv2d layer, double slope) {
    nn::BatchNorm2d norm(layer->options.out_channels());
    return {register_module(name, std::move(layer)), register_module(name + "_norm", norm), slope};
  }

  ResidualMap map_;
};
TORCH_MODULE(Block);

}  // namespace

ResNetImpl::ResNetImpl(const ResNetOptions& options, const at::Generator& generator)
    : Network(options.input, options.classes) {
  if (options.input.size() != 3)
    throw ArgumentError(
        fmt::format("ResNet: input should be [channels, height, width], found {} sizes", options.input.size()));
  check_range("ResNet", "channels", !options.channels.empty(), "at least one group", 0);
  check_range("ResNet", "blocks", options.blocks >= 1, "at least 1", static_cast<double>(options.blocks));
  check_range("ResNet", "keep_dense", options.keep_dense > 0.0 && options.keep_dense <= 1.0, "in (0, 1]",
              options.keep_dense);
  auto channels = options.channels.front();
  auto first = convolution(options.input[0], channels, 3, 1, generator);
  nn::BatchNorm2d norm(channels);
  add_stage(fmt::format("conv 3x3, batch norm, {}", channels), {ConvolutionMap{first, norm, kRelu}},
            {{"conv", first.ptr()}, {"conv_norm", norm.ptr()}});
  for (size_t group = 0; group < options.channels.size(); ++group)
    for (int64_t i = 0; i < options.blocks; ++i) {
      const auto next = options.channels[group];
      check_range("ResNet", "channels", next >= 1, "at least 1", static_cast<double>(next));
      const int64_t stride = group > 0 && i == 0 ? 2 : 1;
      Block block(channels, next, stride, generator);
      add_stage(fmt::format("residual block, {}{}", next, stride == 2 ? ", halved" : ""), {block->map()},
                {{fmt::format("block{}_{}", group + 1, i + 1), block.ptr()}});
      channels = next;
    }
  add_stage("mean over the image", {ImageMeanMap{}});
  if (options.keep_dense < 1.0) {
    nn::Dropout dropout(1.0 - options.keep_dense);
    add_stage(fmt::format("keep {:g}", options.keep_dense), {DropoutMap{dropout}}, {{"dropout", dropout.ptr()}});
  }
  nn::Linear logits(channels, options.classes);
  initialise_normal(logits->weight, kLastGain, generator);
  nn::init::zeros_(logits->bias);
  add_stage(fmt::format("logits, {}", options.classes), {DenseMap{logits}}, {{"logits", logits.ptr()}});
}

}  // namespace priornet
