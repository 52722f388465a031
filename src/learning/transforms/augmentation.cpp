#include <priornet/learning/augmentation.h>

#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/random.h>

#include <cmath>
#include <numbers>
#include <string>

#include "learning/transforms/augmentation_kernels.h"
#include "uncertainty/core/checks.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

void check_options(const AugmentationOptions& options, const ImageShape& shape) {
  const int64_t side = std::min(shape.height, shape.width);
  check_range("augment", "shift", options.shift >= 0 && options.shift < side,
              "at least 0 and below the image's side of " + std::to_string(side), static_cast<double>(options.shift));
  check_range("augment", "rotation_degrees", options.rotation_degrees >= 0 && options.rotation_degrees <= 180,
              "in [0, 180]", options.rotation_degrees);
  check_range("augment", "rotation_resampling", options.rotation_resampling != Resampling::kBicubic,
              "kNearest or kBilinear", static_cast<double>(options.rotation_resampling));
  const int64_t longest = std::max(shape.height, shape.width);
  check_range("augment", "cutout", options.cutout >= 0 && options.cutout <= longest,
              "at least 0 and at most the image's side of " + std::to_string(longest),
              static_cast<double>(options.cutout));
}

ImageShape shape_of(const torch::Tensor& images) {
  check_images("augment", images);
  check_rank("augment", "images", images, 4);
  return {images.size(1), images.size(2), images.size(3)};
}

}  // namespace

AugmentationPlan plan_of(const AugmentationOptions& options, const ImageShape& shape) {
  check_options(options, shape);
  return {static_cast<int32_t>(shape.channels),
          static_cast<int32_t>(shape.height),
          static_cast<int32_t>(shape.width),
          options.flip,
          static_cast<int32_t>(options.shift),
          options.rotation_degrees * std::numbers::pi / 180,
          options.rotation_resampling == Resampling::kBilinear,
          options.reflect_outside,
          static_cast<int32_t>(options.cutout)};
}

uint64_t augmentation_seed(uint64_t seed) { return derive_seed(seed, "augmentation"); }

AugmentationParameters draw_augmentation(int64_t count, const ImageShape& shape, const AugmentationOptions& options,
                                         const AugmentationDraw& draw, const torch::Device& device) {
  const auto plan = plan_of(options, shape);
  const auto flip = torch::empty({count}, torch::kInt32);
  const auto shift = torch::empty({count, 2}, torch::kInt32);
  const auto rotation = torch::empty({count, 2}, torch::kFloat32);
  const auto hole = torch::empty({count, 2}, torch::kInt32);
  const uint64_t seed = augmentation_seed(draw.seed);
  for (int64_t n = 0; n < count; ++n) {
    const auto drawn = draw_image(plan, seed, draw.step, static_cast<uint64_t>(n));
    flip.data_ptr<int32_t>()[n] = drawn.flip ? 1 : 0;
    shift.data_ptr<int32_t>()[2 * n] = drawn.shift_x;
    shift.data_ptr<int32_t>()[2 * n + 1] = drawn.shift_y;
    rotation.data_ptr<float>()[2 * n] = drawn.cosine;
    rotation.data_ptr<float>()[2 * n + 1] = drawn.sine;
    hole.data_ptr<int32_t>()[2 * n] = drawn.hole_left;
    hole.data_ptr<int32_t>()[2 * n + 1] = drawn.hole_top;
  }
  const auto there = [&](const torch::Tensor& tensor) { return tensor.to(device, /*non_blocking=*/true); };
  return {there(flip), there(shift), there(rotation), there(hole)};
}

torch::Tensor augment(const torch::Tensor& images, const AugmentationOptions& options,
                      const AugmentationParameters& parameters) {
  const ImageShape shape = shape_of(images);
  check_options(options, shape);
  const int64_t count = images.size(0);
  check_range("augment", "the number of parameters", parameters.flip.size(0) == count,
              "the number of images, " + std::to_string(count), static_cast<double>(parameters.flip.size(0)));
  if (!images.is_cpu()) return augment_by_pixel(images, options, parameters);
  const auto source = images.contiguous();
  const auto result = torch::empty(source.sizes(), torch::kUInt8);
  const int64_t elements = shape.channels * shape.height * shape.width;
  parallel_rows(count, elements, [&](int64_t begin, int64_t end) {
    ImageAugmenter augmenter(shape, options);
    for (int64_t n = begin; n < end; ++n) {
      const auto* shift = parameters.shift.data_ptr<int32_t>() + 2 * n;
      const auto* rotation = parameters.rotation.data_ptr<float>() + 2 * n;
      const auto* hole = parameters.hole.data_ptr<int32_t>() + 2 * n;
      augmenter.run({source.data_ptr<uint8_t>() + n * elements,
                     result.data_ptr<uint8_t>() + n * elements,
                     {parameters.flip.data_ptr<int32_t>()[n] != 0, shift[0], shift[1], rotation[0], rotation[1],
                      hole[0], hole[1]}});
    }
  });
  return result;
}

torch::Tensor augment(const torch::Tensor& images, const AugmentationOptions& options, const AugmentationDraw& draw) {
  const ImageShape shape = shape_of(images);
  return augment(images, options, draw_augmentation(images.size(0), shape, options, draw, images.device()));
}

}  // namespace priornet
