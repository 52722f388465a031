#include "learning/networks/vgg.h"

#include <fmt/format.h>

#include <algorithm>

#include "learning/networks/layers.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

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

}  // namespace priornet
