#include "learning/networks/vgg.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <torch/nn/init.h>

#include <algorithm>

#include "learning/networks/stage_map.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

namespace nn = torch::nn;

void check(const VGGOptions& options) {
  if (options.input.size() != 3)
    throw ArgumentError(
        fmt::format("VGG: input should be [channels, height, width], found {} sizes", options.input.size()));
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
    check_range("VGG", "dense", units >= 1, "at least 1 unit a layer", static_cast<double>(units));
  if (options.gain) check_range("VGG", "gain", *options.gain > 0.0, "above 0", *options.gain);
  for (const auto keep : {options.keep_convolution, options.keep_dense})
    check_range("VGG", "each keep probability", keep > 0.0 && keep <= 1.0, "in (0, 1]", keep);
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

VGGImpl::VGGImpl(const VGGOptions& options, const at::Generator& generator) : Network(options.input, options.classes) {
  check(options);
  const auto slope = options.slope;
  const auto gain = options.gain.value_or(he_gain(slope));
  const auto add_dropout = [&](const std::string& after, double keep) {
    if (keep == 1.0) return;
    nn::Dropout dropout(1.0 - keep);
    add_stage(fmt::format("keep {:g}", keep), {DropoutMap{dropout}}, {{after + "_dropout", dropout.ptr()}});
  };
  int64_t convolutions = 0;
  int64_t dense = 0;
  auto channels = options.input[0];
  auto height = options.input[1];
  auto width = options.input[2];
  for (const auto& block : options.blocks) {
    for (size_t i = 0; i < block.size(); ++i) {
      const auto next = block[i];
      const auto key = fmt::format("conv{}", ++convolutions);
      nn::Conv2d convolution(nn::Conv2dOptions(channels, next, 3).padding(1).bias(!options.batch_norm));
      initialise_normal(convolution->weight, gain, generator);
      const bool last = i + 1 == block.size();
      const auto* pool = last ? ", max pool 2x2" : "";
      if (options.batch_norm) {
        nn::BatchNorm2d norm(next);
        add_stage(fmt::format("conv 3x3, batch norm, {}{}", next, pool),
                  {ConvolutionMap{convolution, norm, slope, last}},
                  {{key, convolution.ptr()}, {key + "_norm", norm.ptr()}});
      } else {
        nn::init::zeros_(convolution->bias);
        add_stage(fmt::format("conv 3x3, {}{}", next, pool), {ConvolutionMap{convolution, nullptr, slope, last}},
                  {{key, convolution.ptr()}});
      }
      if (!last) add_dropout(key, options.keep_convolution);
      channels = next;
    }
    height /= 2;
    width /= 2;
  }
  add_stage("flatten", {FlattenMap{}});
  auto inputs = channels * height * width;
  for (const auto units : options.dense) {
    const auto key = fmt::format("dense{}", ++dense);
    nn::Linear layer(inputs, units);
    initialise_normal(layer->weight, gain, generator);
    nn::init::zeros_(layer->bias);
    add_stage(fmt::format("dense, {}", units), {DenseMap{layer, slope}}, {{key, layer.ptr()}});
    add_dropout(key, options.keep_dense);
    inputs = units;
  }
  nn::Linear logits(inputs, options.classes);
  initialise_normal(logits->weight, kLastGain, generator);
  nn::init::zeros_(logits->bias);
  add_stage(fmt::format("logits, {}", options.classes), {DenseMap{logits}}, {{"logits", logits.ptr()}});
}

}  // namespace priornet
