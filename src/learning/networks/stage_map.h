#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <optional>
#include <variant>

// What a stage of a network computes: one of these. They are data, so that what runs a network and what writes it down
// for another runtime (deploy/export) go through the same list.

namespace priornet {

/// A slope, below 0, that leaves values as they are.
constexpr double kNoActivation = 1.0;

struct ScaleMap {
  double factor = 1.0;
};

struct FlattenMap {};

/// Of each channel the mean over the image.
struct ImageMeanMap {};

struct DropoutMap {
  torch::nn::Dropout layer;
};

/// max(x, slope x) of a dense layer.
struct DenseMap {
  torch::nn::Linear layer;
  double slope = kNoActivation;
};

/// max(x, slope x) of a convolution and, where there is one, its batch norm; `pooled`: of each 2x2 square the largest.
struct ConvolutionMap {
  torch::nn::Conv2d layer;
  torch::nn::BatchNorm2d norm = nullptr;
  double slope = 0.0;
  bool pooled = false;
};

/// Two convolutions with batch norm, and around them the input, through one more where its shape changes; it is added
/// before the activation of the second.
struct ResidualMap {
  ConvolutionMap first;
  ConvolutionMap second;
  std::optional<ConvolutionMap> shortcut;
};

struct StageMap {
  std::variant<ScaleMap, FlattenMap, ImageMeanMap, DropoutMap, DenseMap, ConvolutionMap, ResidualMap> what;

  torch::Tensor operator()(const torch::Tensor& values);
};

/// max(x, slope x): ReLU with a slope of 0, x itself with 1. In place, for values that nobody else has seen: memory is
/// what an activation costs.
inline torch::Tensor activated(torch::Tensor values, double slope) {
  if (slope == 1.0) return values;
  return slope == 0.0 ? torch::relu_(values) : torch::leaky_relu_(values, slope);
}

/// Normal with standard deviation sqrt(gain / fan in). weight: [out, in] or [out, in, height, width].
void initialise_normal(torch::Tensor weight, double gain, at::Generator generator);

/// The gain that keeps the size of what a leaky rectifier of this slope passes on (He et al., 2015): 2 / (1 + slope^2).
constexpr double he_gain(double slope) { return 2.0 / (1.0 + slope * slope); }

/// The same for a layer that nothing follows.
constexpr double kLastGain = 1.0;

}  // namespace priornet
