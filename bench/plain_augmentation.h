#pragma once

#include <priornet/learning/augmentation.h>

namespace priornet::bench {

/// Flip, shift and rotation of images uint8 [N, C, H, W] as one affine map of LibTorch, sampled at the nearest pixel.
torch::Tensor plain_augment(const torch::Tensor& images, const AugmentationOptions& options);

}  // namespace priornet::bench
