#pragma once

#include <torch/types.h>

#include <cstdint>

namespace priornet {

/// Images of numbers, float32 of any shape and device, plus N(0, sigma^2) on every element. The noise depends on the
/// seed, the shape and the first index alone, not on device or threads: row n of a part that begins at `first_row` gets
/// what row first_row + n of the whole would get.
/// sigma < 0 or another dtype throws ArgumentError.
struct GaussianNoise {
  double sigma = 1;
  uint64_t seed = 0;
  int64_t first_row = 0;
};
torch::Tensor add_gaussian_noise(const torch::Tensor& images, const GaussianNoise& noise);

/// Which stream the seed draws from (core/random_draws.h, a row an image).
uint64_t additive_noise_seed(uint64_t seed);

}  // namespace priornet
