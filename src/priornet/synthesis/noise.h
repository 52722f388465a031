#pragma once

#include <priornet/core/random_draws.h>
#include <priornet/data/transforms/fitting.h>

#include <cstdint>

// Images of noise, uint8 [count, C, H, W]: every pixel of every channel by itself, on the
// device of the draw. ArgumentError for a count below 0,
// an empty shape or a negative sigma.

namespace priornet {

/// N(0, sigma^2) in [-1, 1], clipped: mid-grey at its middle.
torch::Tensor gaussian_noise_images(int64_t count, const ImageShape& shape, const DrawOptions& draw, double sigma = 1);

/// Every grey level equally likely.
torch::Tensor uniform_noise_images(int64_t count, const ImageShape& shape, const DrawOptions& draw);

}  // namespace priornet
