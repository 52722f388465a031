#pragma once

#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/random.h>

#include <cstdint>

// Images of noise, uint8 [count, C, H, W], drawn for every pixel and channel by itself, on the device of the draw.
// ArgumentError for a count below 0, an empty shape or a negative sigma.

namespace priornet {

/// N(0, sigma^2) in [-1, 1], clipped: mid-grey at its middle.
torch::Tensor gaussian_noise_images(int64_t count, const ImageShape& shape, const DrawOptions& draw, double sigma = 1);

/// Every grey level equally likely.
torch::Tensor uniform_noise_images(int64_t count, const ImageShape& shape, const DrawOptions& draw);

// Synthetic images that look like something but show nothing in particular, for networks that should learn from more
// than noise what they do not know. uint8 [count, C, H, W] on the CPU; they depend on the seed alone.

/// Blobs, and strokes of every width, each of one colour on a background of another: level sets of smooth random
/// fields, some inside a window. `backgrounds`, float32 [M, C] in [0, 255], M >= 1: the colours of the backgrounds.
/// ArgumentError for a count below 0, or an empty shape.
torch::Tensor random_shapes(int64_t count, const ImageShape& shape, const torch::Tensor& backgrounds, uint64_t seed);

/// Images drawn from `images`, uint8 [N, C, H, W], each cut into 2 x 2 or 4 x 4 tiles that change places: details stay
/// as they were, the whole does not fit. Images too small to be cut come back with their rows in another order.
torch::Tensor shuffled_tiles(int64_t count, const torch::Tensor& images, uint64_t seed);

/// The colour that most pixels of each image are near, float32 [N, C]: the median of each channel.
torch::Tensor background_colours(const torch::Tensor& images);

}  // namespace priornet
