#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/types.h>

#include <utility>

// What follows a convolution on a GPU, by the kernels of convolution_kernels.h; differentiable. It is a second way
// beside LibTorch's modules: on an H200, whole training steps of VGG-16, ResNet-18 and VGG-6 are 70, 54 and 86 % faster
// (docs/results.md).

namespace priornet::fused {

/// The convolution without its bias, padded by half its side. While a WeightGradientsAside lives, and in bfloat16, the
/// gradient of the weight is computed on its stream and added to grad() there.
torch::Tensor convolved(const torch::Tensor& inputs, torch::nn::Conv2d& convolution);

/// Whether the kernels can follow this convolution: float32 or bfloat16 on a GPU, its channels a multiple of 8. It is
/// padded by half its side.
bool follows(const torch::Tensor& inputs, const torch::nn::Conv2d& convolution);

/// Whether height and width are even.
bool can_pool(const torch::Tensor& inputs);

/// A convolution that the kernels can follow, with its bias, activated.
torch::Tensor biased(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope);
/// The same, then pooled, if can_pool; without a stride.
torch::Tensor biased_and_pooled(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope);

/// Whether the kernels can take these values: float32 or bfloat16 on a GPU, channels-last, channels a multiple of 8.
bool takes(const torch::Tensor& values);

/// `norm` in training: its running statistics are updated. `residual` may be undefined.
torch::Tensor normed(const torch::Tensor& values, torch::nn::BatchNorm2d& norm, double slope,
                     const torch::Tensor& residual);

/// `norm` in evaluation, without a gradient. `residual` may be undefined.
torch::Tensor normed_by_running(const torch::Tensor& values, torch::nn::BatchNorm2d& norm, double slope,
                                const torch::Tensor& residual);

/// The values twice, for two layers that read them. If normed() made them, its backward pass adds up both gradients as
/// it reads them, instead of a pass before it.
std::pair<torch::Tensor, torch::Tensor> forked(const torch::Tensor& values);

}  // namespace priornet::fused
