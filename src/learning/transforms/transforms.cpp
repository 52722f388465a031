#include <priornet/learning/transforms.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/images.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <cmath>

#include "uncertainty/core/checks.h"

namespace priornet {

void check_images(std::string_view function, const torch::Tensor& images) {
  const auto fail = [&](const std::string& found) {
    throw ArgumentError(
        fmt::format("{}: images should be uint8 [N, C, H, W] or [C, H, W] with pixels, found {}", function, found));
  };
  if (!images.defined()) fail("none");
  if (images.scalar_type() != torch::kUInt8) fail(c10::toString(images.scalar_type()));
  const bool has_pixels =
      (images.dim() == 3 || images.dim() == 4) && images.size(-1) > 0 && images.size(-2) > 0 && images.size(-3) > 0;
  if (!has_pixels) fail(fmt::format("shape [{}]", fmt::join(images.sizes().begin(), images.sizes().end(), ", ")));
}

torch::Tensor to_unit_range(const torch::Tensor& images) {
  check_images("to_unit_range", images);
  return images.to(torch::kFloat32).div_(127.5).sub_(1);
}

torch::Tensor to_grey(const torch::Tensor& images) {
  check_images("to_grey", images);
  const int64_t channels = images.size(-3);
  check_range("to_grey", "the number of channels", channels == 1 || channels == 3, "1 or 3",
              static_cast<double>(channels));
  if (channels == 1) return images;
  const auto channel = [&](int64_t c) { return images.narrow(-3, c, 1).to(torch::kInt32); };
  const auto sum = channel(0).mul_(19595).add_(channel(1), 38470).add_(channel(2), 7471).add_(0x8000);
  return sum.bitwise_right_shift_(16).to(torch::kUInt8);
}

torch::Tensor to_rgb(const torch::Tensor& images) {
  check_images("to_rgb", images);
  const int64_t channels = images.size(-3);
  check_range("to_rgb", "the number of channels", channels == 1 || channels == 3, "1 or 3",
              static_cast<double>(channels));
  return channels == 3 ? images : images.repeat_interleave(3, -3);
}

torch::Tensor invert(const torch::Tensor& images) {
  check_images("invert", images);
  return images.bitwise_not();
}

torch::Tensor pad(const torch::Tensor& images, const Padding& padding) {
  check_images("pad", images);
  for (const auto& [name, count] :
       {std::pair{"left", padding.left}, {"right", padding.right}, {"top", padding.top}, {"bottom", padding.bottom}})
    check_range("pad", name, count >= 0, "at least 0", static_cast<double>(count));
  return torch::constant_pad_nd(images, {padding.left, padding.right, padding.top, padding.bottom}, padding.value);
}

uint64_t additive_noise_seed(uint64_t seed) { return derive_seed(seed, "additive noise"); }

torch::Tensor add_gaussian_noise(const torch::Tensor& images, const GaussianNoise& noise) {
  constexpr const char* kFunction = "add_gaussian_noise";
  check_floating(kFunction, "images", images);
  check_same_dtype(kFunction, "images", images, "a network's inputs", torch::empty({0}));
  check_range(kFunction, "the rank of images", images.dim() >= 1, "at least 1", static_cast<double>(images.dim()));
  check_range(kFunction, "sigma", std::isfinite(noise.sigma) && noise.sigma >= 0, "at least 0", noise.sigma);
  check_range(kFunction, "first_row", noise.first_row >= 0, "at least 0", static_cast<double>(noise.first_row));
  const int64_t rows = images.size(0);
  const int64_t elements = rows == 0 ? 0 : images.numel() / rows;
  const auto draws = normal_draws(rows, elements, {additive_noise_seed(noise.seed), noise.first_row, images.device()});
  return torch::add(images, draws.view(images.sizes()), noise.sigma);
}

ImageShape image_shape(const Dataset& set) {
  if (!set.has_images()) throw DataError(fmt::format("{}: should hold images, holds rows of numbers", set.name));
  return {set.inputs.size(1), set.inputs.size(2), set.inputs.size(3)};
}

Dataset fit_to(const Dataset& set, const ImageShape& shape, const FitOptions& options) {
  const ImageShape found = image_shape(set);
  Dataset result = set;
  if (found.channels != shape.channels) {
    const bool can = (found.channels == 1 && shape.channels == 3) || (found.channels == 3 && shape.channels == 1);
    if (!can)
      throw DataError(fmt::format("{}: images of {} channels cannot be turned into images of {}", set.name,
                                  found.channels, shape.channels));
    // Resizing costs more, so it is done on the image with fewer channels.
    if (shape.channels == 1) result.inputs = to_grey(result.inputs);
  }
  result.inputs =
      resize(result.inputs, ResizeOptions{shape.height, shape.width, options.resampling, options.antialias});
  if (shape.channels == 3) result.inputs = to_rgb(result.inputs);
  return result;
}

torch::Tensor decode_fitted(std::string_view bytes, const std::string& name, const ImageShape& shape) {
  if (shape.channels != 1 && shape.channels != 3)
    throw DataError(fmt::format("{}: images cannot be turned into images of {} channels", name, shape.channels));
  BandOptions options;
  options.channels = shape.channels == 1 ? Channels::kGrey : Channels::kAsStored;
  // A picture that is stored sideways is resized as it is, and turned when it is small.
  const auto orientation = image_facts(bytes, name).orientation;
  const bool lies = orientation >= 5;
  options.height = lies ? shape.width : shape.height;
  options.width = lies ? shape.height : shape.width;
  // The filter goes along the rows first, so it needs only one row at a time.
  std::vector<torch::Tensor> narrowed;
  decode_image_bands(bytes, name, options, [&](const torch::Tensor& band) {
    const auto result = resize(band, ResizeOptions{band.size(1), options.width});
    narrowed.push_back(result.is_same(band) ? band.clone() : result);
  });
  const auto image = resize(torch::cat(narrowed, 1), ResizeOptions{options.height, options.width});
  return upright(shape.channels == 3 ? to_rgb(image) : image, orientation);
}

}  // namespace priornet
