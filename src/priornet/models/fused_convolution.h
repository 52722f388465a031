#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/types.h>

// What follows a convolution on a GPU, by the kernels of convolution_kernels.h; differentiable.

namespace priornet::fused {

/// Whether the kernels do values like these: float32 or bfloat16 on a GPU, channels-last, channels a multiple of 8.
bool takes(const torch::Tensor& values);

/// Whether height and width are even.
bool can_pool(const torch::Tensor& values);

/// The convolution, padded by half its side, without its bias; undefined for inputs that are not on a GPU.
torch::Tensor without_bias(const torch::Tensor& inputs, torch::nn::Conv2d& convolution);

torch::Tensor biased(const torch::Tensor& values, const torch::Tensor& bias, double slope);
torch::Tensor biased_and_pooled(const torch::Tensor& values, const torch::Tensor& bias, double slope);

/// `norm` in training: its running statistics are brought up to date. `residual` may be undefined.
torch::Tensor normed(const torch::Tensor& values, torch::nn::BatchNorm2d& norm, double slope,
                     const torch::Tensor& residual);

}  // namespace priornet::fused
