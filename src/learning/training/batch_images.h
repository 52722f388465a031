#pragma once

#include <cstdint>
#include <cstring>

#include "learning/transforms/augmented_pixel.h"
#include "uncertainty/core/device_code.h"

namespace priornet {

// A training batch of images in one kernel: looked up in the set, augmented, brought to [-1, 1] and noised. A counter
// on the device holds the step. The values are those of TrainingBatches::at(), bit for bit if there is no noise.

/// The orders of the passes in use, in memory that never moves: pass k is in slot k % slots. So a kernel finds the row
/// of any place by itself; place p lies in pass p / size.
struct PassRing {
  const int64_t* rows =
      nullptr;  ///< [slots, size]; null: there is no order, and place n of a step is row n of its slot
  int64_t size = 0;
  int64_t slots = 1;  ///< without an order: images, [slots, count]; step s has slot s % slots
};

PRIORNET_DEVICE inline int64_t row_at(const PassRing& order, int64_t place) {
  return order.rows[place / order.size % order.slots * order.size + place % order.size];
}

/// The in-distribution part of a batch, or the other.
struct ImagePart {
  const uint8_t* images;  ///< [N, channels, height, width]
  PassRing order;
  int64_t whole;  ///< images per step of all processes together
  int64_t first;  ///< of them, of this process
  int64_t count;  ///< of this process
  uint64_t augmentation_seed;
  uint64_t noise_seed;

  PRIORNET_DEVICE int64_t place(int64_t step, int64_t n) const { return step * whole + first + n; }
  PRIORNET_DEVICE int64_t row(int64_t step, int64_t n) const {
    return order.rows == nullptr ? step % order.slots * count + n : row_at(order, place(step, n));
  }
};

struct ImageBatch {
  AugmentationPlan plan;
  float noise;         ///< standard deviation
  ImagePart parts[2];  ///< the second follows the first
  const int64_t* step;
  void* inputs;  ///< float32, or bfloat16, [count of both, channels, height, width], dense
  bool bfloat16;
  int64_t channel_stride, pixel_stride;  ///< of the inputs, in elements

  /// What is the same for all pixels of an image.
  struct Image {
    const uint8_t* source;
    int64_t target;  ///< where it begins in the inputs
    ImageDraw draw;
    uint64_t noise_seed;
    uint64_t noise_row;
  };

  PRIORNET_DEVICE int64_t images() const { return parts[0].count + parts[1].count; }
  PRIORNET_DEVICE int32_t pixels() const { return plan.height * plan.width; }

  PRIORNET_DEVICE Image image(int64_t n) const {
    const bool is_second = n >= parts[0].count;
    const ImagePart& part = parts[is_second ? 1 : 0];
    const int64_t within = is_second ? n - parts[0].count : n;
    const int64_t elements = static_cast<int64_t>(plan.channels) * pixels();
    return {part.images + part.row(*step, within) * elements, n * elements,
            draw_image(plan, part.augmentation_seed, static_cast<uint64_t>(*step),
                       static_cast<uint64_t>(part.first + within)),
            part.noise_seed, static_cast<uint64_t>(part.place(*step, within))};
  }

  PRIORNET_DEVICE void fill(const Image& image, int32_t pixel) const {
    const AugmentedPixel seen(plan, image.draw, pixel % plan.width, pixel / plan.width);
    for (int32_t c = 0; c < plan.channels; ++c) {
      const int64_t element = static_cast<int64_t>(c) * pixels() + pixel;
      float value = static_cast<float>(seen.level(image.source + static_cast<int64_t>(c) * pixels())) / 127.5f - 1.0f;
      if (noise != 0.0f) value += noise * drawn_noise(image, element);
      store(image.target + c * channel_stride + pixel * pixel_stride, value);
    }
  }

 private:
  // As in transforms.h: neighbours share a draw.
  PRIORNET_DEVICE static float drawn_noise(const Image& image, int64_t element) {
    RandomStream random(image.noise_seed, image.noise_row, static_cast<uint64_t>(element / 2));
    const RandomPair drawn = random.normals();
    return static_cast<float>(element % 2 == 0 ? drawn.first : drawn.second);
  }

  PRIORNET_DEVICE void store(int64_t at, float value) const {
    if (!bfloat16) {
      static_cast<float*>(inputs)[at] = value;
      return;
    }
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    bits += 0x7fff + (bits >> 16 & 1);  // to the nearest, ties to even
    static_cast<uint16_t*>(inputs)[at] = static_cast<uint16_t>(bits >> 16);
  }
};

/// The rows and labels of the first part. Runs last in a step, and moves the counter on.
struct BatchRows {
  ImagePart part;
  const int64_t* labels;  ///< of the set
  int64_t* batch_labels;  ///< [part.count]
  int64_t* batch_rows;    ///< [part.count]
  int64_t* step;

  PRIORNET_DEVICE void operator()(int64_t n) const {
    const int64_t row = part.row(*step, n);
    batch_rows[n] = row;
    batch_labels[n] = labels[row];
  }
};

/// In two launches. `stream` is a cudaStream_t.
void launch_batch(const ImageBatch& images, const BatchRows& rows, void* stream);

}  // namespace priornet
