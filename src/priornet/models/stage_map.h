#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

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

}  // namespace priornet
