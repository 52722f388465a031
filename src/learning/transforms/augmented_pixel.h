#pragma once

#include <cstdint>

#include "uncertainty/core/device_code.h"
#include "uncertainty/core/random_stream.h"

// Augmentation one pixel at a time, as augmentation.h promises it, for a GPU, where one thread makes one pixel. The
// draws, and which pixel comes from where, are defined here for the CPU's kernels too.

namespace priornet {

/// The colour of a hole: 0 in [-1, 1], to half a grey level.
constexpr uint8_t kHoleGrey = 128;

/// The options and the shape of the images as numbers.
struct AugmentationPlan {
  int32_t channels, height, width;
  bool flip;
  int32_t shift;
  double reach;  ///< of the rotation, in radians
  bool bilinear;
  bool reflect_outside;
  int32_t cutout;
};

/// What happens to an image.
struct ImageDraw {
  bool flip;
  int32_t shift_x, shift_y;
  float cosine, sine;
  int32_t hole_left, hole_top;
};

/// Of image `place` of batch `step`.
PRIORNET_DEVICE inline ImageDraw draw_image(const AugmentationPlan& plan, uint64_t seed, uint64_t step,
                                            uint64_t place) {
  RandomStream random(seed, step, place);
  const auto below = [&](int32_t limit) { return static_cast<int32_t>(random.uniform() * static_cast<double>(limit)); };
  ImageDraw draw{};
  draw.flip = below(2) == 1 && plan.flip;
  draw.shift_x = below(2 * plan.shift + 1) - plan.shift;
  draw.shift_y = below(2 * plan.shift + 1) - plan.shift;
  const double angle = (2 * random.uniform() - 1) * plan.reach;
  draw.cosine = static_cast<float>(::cos(angle));
  draw.sine = static_cast<float>(::sin(angle));
  draw.hole_left = below(plan.width) - plan.cutout / 2;
  draw.hole_top = below(plan.height) - plan.cutout / 2;
  return draw;
}

/// A place outside an image, reflected at its border; the border's own pixels are not repeated.
PRIORNET_DEVICE inline int32_t reflected(int32_t place, int32_t size) {
  if (size == 1) return 0;
  const int32_t period = 2 * (size - 1);
  place %= period;
  if (place < 0) place += period;
  return place < period - place ? place : period - place;
}

/// std::floor is a call where a CPU has no instruction for it.
PRIORNET_DEVICE inline int32_t floor_of(float value) {
  const auto whole = static_cast<int32_t>(value);
  return whole - (value < static_cast<float>(whole) ? 1 : 0);
}

/// Where the pixels of an output row lie in the unrotated image.
struct RotatedRow {
  float cosine, sine, middle_x, middle_y, y;

  PRIORNET_DEVICE float x_at(int64_t x) const {
    return cosine * (static_cast<float>(x) - middle_x) - sine * (y - middle_y) + middle_x;
  }
  PRIORNET_DEVICE float y_at(int64_t x) const {
    return sine * (static_cast<float>(x) - middle_x) + cosine * (y - middle_y) + middle_y;
  }
};

/// The grey level between four pixels, to the nearest.
PRIORNET_DEVICE inline uint8_t bilinear_level(const float (&corners)[4], float right_share, float low_share) {
  const float above = corners[0] * (1 - right_share) + corners[1] * right_share;
  const float below = corners[2] * (1 - right_share) + corners[3] * right_share;
  return static_cast<uint8_t>(above * (1 - low_share) + below * low_share + 0.5f);
}

/// One output pixel: where it comes from, the same in all channels.
class AugmentedPixel {
 public:
  PRIORNET_DEVICE AugmentedPixel(const AugmentationPlan& plan, const ImageDraw& draw, int32_t x, int32_t y)
      : interpolated_(plan.reach > 0 && plan.bilinear), hole_(is_hole(plan, draw, x, y)) {
    if (hole_) return;
    if (!(plan.reach > 0)) {
      sources_[0] = source(plan, draw, x, y);
      return;
    }
    const RotatedRow row{draw.cosine, draw.sine, 0.5f * static_cast<float>(plan.width - 1),
                         0.5f * static_cast<float>(plan.height - 1), static_cast<float>(y)};
    const float from_x = row.x_at(x), from_y = row.y_at(x);
    if (!interpolated_) {
      sources_[0] = source(plan, draw, floor_of(from_x + 0.5f), floor_of(from_y + 0.5f));
      return;
    }
    const int32_t left = floor_of(from_x), top = floor_of(from_y);
    right_share_ = from_x - static_cast<float>(left);
    low_share_ = from_y - static_cast<float>(top);
    for (int corner = 0; corner < 4; ++corner)
      sources_[corner] = source(plan, draw, left + corner % 2, top + corner / 2);
  }

  /// `channel` of the image as it lies in the set, [height, width].
  PRIORNET_DEVICE uint8_t level(const uint8_t* channel) const {
    if (hole_) return kHoleGrey;
    if (!interpolated_) return at(channel, sources_[0]);
    float corners[4];
    for (int corner = 0; corner < 4; ++corner) corners[corner] = static_cast<float>(at(channel, sources_[corner]));
    return bilinear_level(corners, right_share_, low_share_);
  }

 private:
  PRIORNET_DEVICE static bool is_hole(const AugmentationPlan& plan, const ImageDraw& draw, int32_t x, int32_t y) {
    return x >= draw.hole_left && x < draw.hole_left + plan.cutout && y >= draw.hole_top &&
           y < draw.hole_top + plan.cutout;
  }

  // Which pixel of the set's image stands at a place of the shifted and flipped one; -1 for black.
  PRIORNET_DEVICE static int32_t source(const AugmentationPlan& plan, const ImageDraw& draw, int32_t x, int32_t y) {
    const bool is_inside = x >= 0 && x < plan.width && y >= 0 && y < plan.height;
    if (!is_inside && !plan.reflect_outside) return -1;
    const int32_t column = reflected(reflected(x, plan.width) + draw.shift_x, plan.width);
    const int32_t row = reflected(reflected(y, plan.height) + draw.shift_y, plan.height);
    return row * plan.width + (draw.flip ? plan.width - 1 - column : column);
  }

  PRIORNET_DEVICE static uint8_t at(const uint8_t* channel, int32_t source) {
    return source < 0 ? uint8_t{0} : channel[source];
  }

  bool interpolated_, hole_;
  int32_t sources_[4] = {-1, -1, -1, -1};
  float right_share_ = 0, low_share_ = 0;
};

/// What core/rows.h runs for augment() on a GPU: one pixel in all its channels.
struct AugmentWork {
  AugmentationPlan plan;
  const uint8_t* in;  ///< [N, channels, height, width]
  uint8_t* out;
  const int32_t* flip;  ///< as in AugmentationParameters
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
