#pragma once

#include <torch/types.h>

// Images uint8 [N, C, H, W] or [C, H, W] in other clothes; on their device. What is no image throws ArgumentError.

namespace priornet {

/// x / 127.5 - 1: float32 in [-1, 1], what networks take.
torch::Tensor to_unit_range(const torch::Tensor& images);

/// One channel: Pillow's "L", (19595 R + 38470 G + 7471 B + 32768) / 65536 cut off, which is ITU-R 601's luma. An image
/// of one channel comes back as it is; other numbers of channels throw.
torch::Tensor to_grey(const torch::Tensor& images);

/// Three channels: a grey image three times. An image of three comes back as it is; other numbers of channels throw.
torch::Tensor to_rgb(const torch::Tensor& images);

/// The other polarity, 255 - x.
torch::Tensor invert(const torch::Tensor& images);

/// Pixels to add on each side.
struct Padding {
  int64_t left = 0;
  int64_t right = 0;
  int64_t top = 0;
  int64_t bottom = 0;
  uint8_t value = 0;
};
torch::Tensor pad(const torch::Tensor& images, const Padding& padding);

}  // namespace priornet
