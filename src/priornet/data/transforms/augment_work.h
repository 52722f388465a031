#pragma once

#include <priornet/data/transforms/augmented_pixel.h>

namespace priornet {

/// What core/rows.h runs for augment() on a GPU: one pixel in all its channels.
struct AugmentWork {
  AugmentationPlan plan;
  const uint8_t* in;  ///< [N, channels, height, width]
  uint8_t* out;
  const int32_t* flip;  ///< as AugmentationParameters has them
  const int32_t* shift;
  const float* rotation;
  const int32_t* hole;

  PRIORNET_DEVICE void operator()(int64_t pixel) const {
    const int64_t pixels = static_cast<int64_t>(plan.height) * plan.width;
    const int64_t n = pixel / pixels;
    const auto within = static_cast<int32_t>(pixel % pixels);
    const ImageDraw draw{flip[n] != 0,        shift[2 * n], shift[2 * n + 1], rotation[2 * n],
                         rotation[2 * n + 1], hole[2 * n],  hole[2 * n + 1]};
    const AugmentedPixel seen(plan, draw, within % plan.width, within / plan.width);
    for (int64_t channel = n * plan.channels; channel < (n + 1) * plan.channels; ++channel)
      out[channel * pixels + within] = seen.level(in + channel * pixels);
  }
};

}  // namespace priornet
