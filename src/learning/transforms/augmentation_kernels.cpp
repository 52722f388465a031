#include "learning/transforms/augmentation_kernels.h"

#include <algorithm>
#include <cmath>

#include "learning/transforms/augmented_pixel.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

RotatedRow rotated_row(const ImageAugmenter::Image& image, const ImageShape& shape, int64_t y) {
  return {image.draw.cosine, image.draw.sine, 0.5f * static_cast<float>(shape.width - 1),
          0.5f * static_cast<float>(shape.height - 1), static_cast<float>(y)};
}

}  // namespace

ImageAugmenter::ImageAugmenter(const ImageShape& shape, const AugmentationOptions& options)
    : shape_(shape),
      options_(options),
      columns_(shape.width),
      rows_(shape.height),
      places_(options.rotation_degrees > 0 ? shape.height * shape.width : 0) {}

void ImageAugmenter::run(const Image& image) {
  const auto width = static_cast<int32_t>(shape_.width);
  const auto height = static_cast<int32_t>(shape_.height);
  for (int32_t x = 0; x < width; ++x) {
    const int32_t column = reflected(x + image.draw.shift_x, width);
    columns_[x] = image.draw.flip ? width - 1 - column : column;
  }
  for (int32_t y = 0; y < height; ++y) rows_[y] = reflected(y + image.draw.shift_y, height);
  if (options_.rotation_degrees == 0)
    copy(image);
  else if (options_.rotation_resampling == Resampling::kNearest)
    rotate_nearest(image);
  else
    rotate_bilinear(image);
  if (options_.cutout > 0) cut(image);
}

// Between the reflected ends a row is a run of the source, forwards or backwards.
void ImageAugmenter::copy(const Image& image) {
  const int64_t width = shape_.width;
  const int64_t begin = std::max<int64_t>(0, -image.draw.shift_x);
  const int64_t end = std::min<int64_t>(width, width - image.draw.shift_x);
  for (int64_t c = 0; c < shape_.channels; ++c) {
    for (int64_t y = 0; y < shape_.height; ++y) {
      const uint8_t* in = image.in + (c * shape_.height + rows_[y]) * width;
      uint8_t* out = image.out + (c * shape_.height + y) * width;
      for (int64_t x = 0; x < begin; ++x) out[x] = in[columns_[x]];
      if (image.draw.flip)
        std::reverse_copy(in + columns_[end - 1], in + columns_[begin] + 1, out + begin);
      else
        std::copy_n(in + columns_[begin], end - begin, out + begin);
      for (int64_t x = end; x < width; ++x) out[x] = in[columns_[x]];
    }
  }
}

void ImageAugmenter::rotate_nearest(const Image& image) {
  const auto width = static_cast<int32_t>(shape_.width);
  const auto height = static_cast<int32_t>(shape_.height);
  for (int64_t y = 0; y < height; ++y) {
    const RotatedRow row = rotated_row(image, shape_, y);
    for (int64_t x = 0; x < width; ++x) {
      int32_t from_x = floor_of(row.x_at(x) + 0.5f);
      int32_t from_y = floor_of(row.y_at(x) + 0.5f);
      bool is_inside = from_x >= 0 && from_x < width && from_y >= 0 && from_y < height;
      if (!is_inside && options_.reflect_outside) {
        from_x = reflected(from_x, width);
        from_y = reflected(from_y, height);
        is_inside = true;
      }
      places_[y * width + x] = is_inside ? rows_[from_y] * width + columns_[from_x] : -1;
    }
  }
  const int64_t pixels = shape_.height * shape_.width;
  for (int64_t c = 0; c < shape_.channels; ++c) {
    const uint8_t* in = image.in + c * pixels;
    uint8_t* out = image.out + c * pixels;
    for (int64_t i = 0; i < pixels; ++i) out[i] = places_[i] < 0 ? 0 : in[places_[i]];
  }
}

void ImageAugmenter::rotate_bilinear(const Image& image) {
  const auto width = static_cast<int32_t>(shape_.width);
  const auto height = static_cast<int32_t>(shape_.height);
  const int64_t pixels = shape_.height * shape_.width;
  const auto place = [&](int32_t x, int32_t y) {
    const bool is_inside = x >= 0 && x < width && y >= 0 && y < height;
    if (!is_inside && !options_.reflect_outside) return -1;
    return rows_[reflected(y, height)] * width + columns_[reflected(x, width)];
  };
  for (int64_t y = 0; y < height; ++y) {
    const RotatedRow row = rotated_row(image, shape_, y);
    for (int64_t x = 0; x < width; ++x) {
      const float from_x = row.x_at(x);
      const float from_y = row.y_at(x);
      const int32_t left = floor_of(from_x);
      const int32_t top = floor_of(from_y);
      const float right_share = from_x - static_cast<float>(left);
      const float low_share = from_y - static_cast<float>(top);
      const int32_t corners[] = {place(left, top), place(left + 1, top), place(left, top + 1),
                                 place(left + 1, top + 1)};
      for (int64_t c = 0; c < shape_.channels; ++c) {
        float levels[4];
        for (int i = 0; i < 4; ++i)
          levels[i] = corners[i] < 0 ? 0.0f : static_cast<float>(image.in[c * pixels + corners[i]]);
        image.out[c * pixels + y * width + x] = bilinear_level(levels, right_share, low_share);
      }
    }
  }
}

void ImageAugmenter::cut(const Image& image) {
  const int64_t left = std::clamp<int64_t>(image.draw.hole_left, 0, shape_.width);
  const int64_t right = std::clamp<int64_t>(image.draw.hole_left + options_.cutout, left, shape_.width);
  const int64_t top = std::clamp<int64_t>(image.draw.hole_top, 0, shape_.height);
  const int64_t bottom = std::clamp<int64_t>(image.draw.hole_top + options_.cutout, top, shape_.height);
  for (int64_t c = 0; c < shape_.channels; ++c)
    for (int64_t y = top; y < bottom; ++y)
      std::fill_n(image.out + (c * shape_.height + y) * shape_.width + left, right - left, kHoleGrey);
}

torch::Tensor augment_by_pixel(const torch::Tensor& images, const AugmentationOptions& options,
                               const AugmentationParameters& parameters) {
  const ImageShape shape{images.size(1), images.size(2), images.size(3)};
  const auto source = images.contiguous();
  const auto result = torch::empty_like(source);
  const AugmentWork work{plan_of(options, shape),
                         source.data_ptr<uint8_t>(),
                         result.data_ptr<uint8_t>(),
                         parameters.flip.data_ptr<int32_t>(),
                         parameters.shift.data_ptr<int32_t>(),
                         parameters.rotation.data_ptr<float>(),
                         parameters.hole.data_ptr<int32_t>()};
  for_each_row(work, images.size(0) * shape.height * shape.width, shape.channels, is_on_cuda("augment", images));
  return result;
}

}  // namespace priornet
