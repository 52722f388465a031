#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/resize.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace priornet {

// Images in other forms, on their device. Images are uint8 [N, C, H, W] or [C, H, W], with at least one pixel each;
// anything else throws ArgumentError.

/// Throws ArgumentError, in the name of `function`, unless these are such images.
void check_images(std::string_view function, const torch::Tensor& images);

/// x / 127.5 - 1: float32 in [-1, 1], what networks take.
torch::Tensor to_unit_range(const torch::Tensor& images);

/// One channel: Pillow's "L", (19595 R + 38470 G + 7471 B + 32768) / 65536 rounded down, which is ITU-R 601's luma. An
/// image of one channel comes back as it is; other numbers of channels throw.
torch::Tensor to_grey(const torch::Tensor& images);

/// Three channels: a grey image is repeated three times. An image of three channels comes back as it is; other numbers
/// of channels throw.
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

struct GaussianNoise {
  double sigma = 1;
  uint64_t seed = 0;
  int64_t first_row = 0;  ///< of a part of a set: row n gets what row first_row + n of the whole would get
};

/// Images of numbers, float32 of any shape and device, plus N(0, sigma^2) on every element. The noise depends on seed,
/// shape and first row alone, not on device or threads. sigma < 0 or another dtype throws ArgumentError.
torch::Tensor add_gaussian_noise(const torch::Tensor& images, const GaussianNoise& noise);

/// Which stream the seed draws from (random.h, one row per image).
uint64_t additive_noise_seed(uint64_t seed);

/// The size of one image.
struct ImageShape {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;

  bool operator==(const ImageShape&) const = default;
};

/// The size of a set's images. DataError if it holds none.
ImageShape image_shape(const Dataset& set);

/// How images get another size.
struct FitOptions {
  Resampling resampling = Resampling::kBilinear;
  bool antialias = true;
};

/// The set with images of the given shape, as a network trained on others takes them: grey or RGB (to_grey, to_rgb),
/// then resized. A set that has the shape comes back as it is. DataError, which begins with its name, if it holds no
/// images or the channels cannot be matched.
Dataset fit_to(const Dataset& set, const ImageShape& shape, const FitOptions& options = {});

/// An image file as fit_to() would have it, uint8 [C, H, W], called `name` in errors. It is resized while it is
/// decoded: memory holds a few of its rows, beside what ImageFacts::decoder_bytes says. DataError.
torch::Tensor decode_fitted(std::string_view bytes, const std::string& name, const ImageShape& shape);

}  // namespace priornet
