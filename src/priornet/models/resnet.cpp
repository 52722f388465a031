#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/models/convolution.h>
#include <priornet/models/initialise.h>
#include <priornet/models/resnet.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

namespace priornet {
namespace {

namespace nn = torch::nn;

// Slopes below zero.
constexpr double kRelu = 0.0;
constexpr double kIdentity = 1.0;

nn::Conv2d convolution(int64_t from, int64_t to, int64_t side, int64_t stride, const at::Generator& generator) {
  nn::Conv2d layer(nn::Conv2dOptions(from, to, side).padding(side / 2).stride(stride).bias(false));
  initialise_normal(layer->weight, he_gain(0.0), generator);
  return layer;
}

// relu(x + f(x)), f two convolutions with batch norm; x goes through a 1x1 convolution where its shape changes.
class BlockImpl : public nn::Module {
 public:
  BlockImpl(int64_t from, int64_t to, int64_t stride, const at::Generator& generator)
      : first_(register_module("first", convolution(from, to, 3, stride, generator))),
        first_norm_(register_module("first_norm", nn::BatchNorm2d(to))),
        second_(register_module("second", convolution(to, to, 3, 1, generator))),
        second_norm_(register_module("second_norm", nn::BatchNorm2d(to))) {
    if (from == to && stride == 1) return;
    shortcut_ = register_module("shortcut", convolution(from, to, 1, stride, generator));
    shortcut_norm_ = register_module("shortcut_norm", nn::BatchNorm2d(to));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto inner = convolved_and_normed(x, first_, first_norm_, kRelu);
    const auto around = shortcut_ ? convolved_and_normed(x, shortcut_, shortcut_norm_, kIdentity) : x;
    return convolved_and_normed(inner, second_, second_norm_, kRelu, around);
  }

 private:
  nn::Conv2d first_;
  nn::BatchNorm2d first_norm_;
  nn::Conv2d second_;
  nn::BatchNorm2d second_norm_;
  nn::Conv2d shortcut_ = nullptr;
  nn::BatchNorm2d shortcut_norm_ = nullptr;
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
  add_stage(fmt::format("conv 3x3, batch norm, {}", channels),
            [=](const auto& x) mutable { return convolved_and_normed(x, first, norm, kRelu); },
            {{"conv", first.ptr()}, {"conv_norm", norm.ptr()}});
  for (size_t group = 0; group < options.channels.size(); ++group)
    for (int64_t i = 0; i < options.blocks; ++i) {
      const auto next = options.channels[group];
      check_range("ResNet", "channels", next >= 1, "at least 1", static_cast<double>(next));
      const int64_t stride = group > 0 && i == 0 ? 2 : 1;
      Block block(channels, next, stride, generator);
      add_stage(fmt::format("residual block, {}{}", next, stride == 2 ? ", halved" : ""),
                [=](const auto& x) mutable { return block->forward(x); },
                {{fmt::format("block{}_{}", group + 1, i + 1), block.ptr()}});
      channels = next;
    }
  add_stage("mean over the image", [](const auto& x) { return x.mean({2, 3}); });
  if (options.keep_dense < 1.0) {
    nn::Dropout dropout(1.0 - options.keep_dense);
    add_stage(fmt::format("keep {:g}", options.keep_dense), [=](const auto& x) mutable { return dropout->forward(x); },
              {{"dropout", dropout.ptr()}});
  }
  nn::Linear logits(channels, options.classes);
  initialise_normal(logits->weight, kLastGain, generator);
  nn::init::zeros_(logits->bias);
  add_stage(fmt::format("logits, {}", options.classes), [=](const auto& x) mutable { return logits->forward(x); },
            {{"logits", logits.ptr()}});
}

}  // namespace priornet
