#pragma once

#include <cmath>

#include "uncertainty/core/random_stream.h"

// Images from a factor analysis in one kernel: those of sample_images() (factor_analysis.h), to rounding. A counter on
// the device holds the step, which gives the seed.

namespace priornet {

struct FactorImages {
  const float* mean;       ///< [dimensions]
  const float* loading;    ///< [dimensions, latent]
  const float* deviation;  ///< of the noise, [dimensions]
  int32_t dimensions, latent;
  float scale_low, scale_range;  ///< of the draw that inflates the variance
  int64_t scale_batch;           ///< this many images of a step share one scale
  bool clips;                    ///< into the range of grey levels, rather than by tanh
  uint64_t seed;                 ///< the seed of a step is derived from it
  int64_t first, count;          ///< images of the step that are made
  uint8_t* images;               ///< [count, dimensions]

  /// What is the same for all pixels of an image.
  struct Image {
    uint64_t row, latent_seed, noise_seed;
    float spread;
    uint8_t* out;
  };

  PRIORNET_DEVICE static uint64_t step_seed(uint64_t seed, int64_t step) {
    return SeedMix(seed).add("step ").add_number(step).seed();
  }

  PRIORNET_DEVICE Image image(int64_t step, int64_t n) const {
    const uint64_t of_step = step_seed(seed, step);
    const auto row = static_cast<uint64_t>(first + n);
    RandomStream scale(SeedMix(of_step).add("scale").seed(), row / static_cast<uint64_t>(scale_batch), 0);
    const auto uniform = static_cast<float>(scale.uniform());
    return {row, SeedMix(of_step).add("latent").seed(), SeedMix(of_step).add("noise").seed(),
            ::sqrtf(uniform * scale_range + scale_low), images + n * dimensions};
  }

  PRIORNET_DEVICE int32_t latent_pairs() const { return (latent + 1) / 2; }
  PRIORNET_DEVICE int32_t pixel_pairs() const { return (dimensions + 1) / 2; }

  /// Fills numbers 2 pair and 2 pair + 1 of an image's latent vector, which has room for an even number of them.
  PRIORNET_DEVICE void draw_latent(const Image& image, int32_t pair, float* vector) const {
    const RandomPair drawn = RandomStream(image.latent_seed, image.row, static_cast<uint64_t>(pair)).normals();
    vector[2 * pair] = static_cast<float>(drawn.first);
    vector[2 * pair + 1] = static_cast<float>(drawn.second);
  }

  PRIORNET_DEVICE void draw_pixels(const Image& image, int32_t pair, const float* vector) const {
    const RandomPair drawn = RandomStream(image.noise_seed, image.row, static_cast<uint64_t>(pair)).normals();
    const int32_t pixel = 2 * pair;
    image.out[pixel] = level(image, pixel, vector, static_cast<float>(drawn.first));
    if (pixel + 1 < dimensions)
      image.out[pixel + 1] = level(image, pixel + 1, vector, static_cast<float>(drawn.second));
  }

 private:
  PRIORNET_DEVICE uint8_t level(const Image& image, int32_t pixel, const float* vector, float noise) const {
    float sum = 0;
    for (int32_t i = 0; i < latent; ++i) sum += vector[i] * loading[static_cast<int64_t>(pixel) * latent + i];
    const float value = (sum + noise * deviation[pixel]) * image.spread + mean[pixel];
    const float unit = clips ? ::fminf(::fmaxf(value, -1.0f), 1.0f) : ::tanhf(value);
    return static_cast<uint8_t>(::rintf((unit + 1.0f) * 127.5f));
  }
};

/// On the device; `stream` is a cudaStream_t.
void launch_factor_images(const FactorImages& images, const int64_t* step, void* stream);

}  // namespace priornet
