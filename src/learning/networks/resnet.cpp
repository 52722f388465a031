#include "learning/networks/resnet.h"

#include <fmt/format.h>

#include <algorithm>

#include "learning/networks/layers.h"

namespace priornet {
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

}  // namespace priornet
