#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/types.h>

// A convolution with all that follows it up to the next one. On a GPU what follows is one pass over memory (batch norm:
// two), forward and backward, where values lie channels-last and their channels are a multiple of 8; elsewhere it is
// LibTorch's operations one by one. Convolutions are padded by half their side.

namespace priornet {

/// max(x, slope x): ReLU with a slope of 0, x itself with 1. In place, for values that nobody else has seen: memory is
/// what an activation costs.
torch::Tensor activated(torch::Tensor values, double slope);

/// max(x, slope x) of the convolution, with its bias if it has one.
torch::Tensor convolved(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope);

/// The same of one without a stride, and of each 2x2 square the largest.
torch::Tensor convolved_and_pooled(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope);

/// max(x, slope x) of the batch norm of the values, plus `residual` where it is defined. A slope of 1 leaves x as it
/// is.
torch::Tensor normed(const torch::Tensor& values, torch::nn::BatchNorm2d& norm, double slope,
                     const torch::Tensor& residual = {});

/// The same of the convolution, which has no bias.
torch::Tensor convolved_and_normed(const torch::Tensor& inputs, torch::nn::Conv2d& convolution,
                                   torch::nn::BatchNorm2d& norm, double slope, const torch::Tensor& residual = {});

}  // namespace priornet
