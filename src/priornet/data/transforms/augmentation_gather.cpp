#include <priornet/data/transforms/augmentation_kernels.h>

namespace priornet {
namespace {

using torch::Tensor;

Tensor reflected(const Tensor& place, int64_t size) {
  if (size == 1) return torch::zeros_like(place);
  const int64_t period = 2 * (size - 1);
  const auto around = place.remainder(period);
  return torch::minimum(around, period - around);
}

/// Places [N, H, W] in images that are shifted and flipped but not rotated, looked up in the images as they are.
class Lookup {
 public:
  Lookup(const Tensor& images, const AugmentationOptions& options, const AugmentationParameters& parameters)
      : images_(images),
        height_(images.size(2)),
        width_(images.size(3)),
        reflect_outside_(options.reflect_outside),
        flip_(parameters.flip.view({-1, 1, 1})),
        shift_x_(parameters.shift.select(1, 0).view({-1, 1, 1})),
        shift_y_(parameters.shift.select(1, 1).view({-1, 1, 1})) {}

  /// uint8 [N, C, H, W].
  Tensor operator()(Tensor x, Tensor y) const {
    const auto is_inside = x.ge(0).logical_and(x.lt(width_)).logical_and(y.ge(0)).logical_and(y.lt(height_));
    x = reflected(reflected(x, width_) + shift_x_, width_);
    y = reflected(reflected(y, height_) + shift_y_, height_);
    x = torch::where(flip_.to(torch::kBool), width_ - 1 - x, x);
    const auto place = (y * width_ + x).to(torch::kInt64).view({images_.size(0), 1, -1});
    const auto pixels = images_.flatten(2).gather(2, place.expand({-1, images_.size(1), -1})).view_as(images_);
    return reflect_outside_ ? pixels : pixels * is_inside.unsqueeze(1);
  }

 private:
  Tensor images_;
  int64_t height_, width_;
  bool reflect_outside_;
  Tensor flip_, shift_x_, shift_y_;
};

Tensor bilinear(const Lookup& lookup, const Tensor& x, const Tensor& y) {
  const auto left = x.floor();
  const auto top = y.floor();
  const auto right_share = (x - left).unsqueeze(1);
  const auto low_share = (y - top).unsqueeze(1);
  const auto corner = [&](int64_t right, int64_t low) {
    return lookup(left.to(torch::kInt32) + right, top.to(torch::kInt32) + low).to(torch::kFloat32);
  };
  const auto above = corner(0, 0) * (1 - right_share) + corner(1, 0) * right_share;
  const auto below = corner(0, 1) * (1 - right_share) + corner(1, 1) * right_share;
  return (above * (1 - low_share) + below * low_share + 0.5).to(torch::kUInt8);
}

Tensor with_holes(const Tensor& images, int64_t side, const Tensor& hole, const Tensor& columns, const Tensor& rows) {
  const auto left = hole.select(1, 0).view({-1, 1, 1, 1});
  const auto top = hole.select(1, 1).view({-1, 1, 1, 1});
  const auto is_hole =
      columns.ge(left).logical_and(columns.lt(left + side)).logical_and(rows.ge(top)).logical_and(rows.lt(top + side));
  return images.masked_fill(is_hole, kHoleGrey);
}

}  // namespace

Tensor augment_by_gathering(const Tensor& images, const AugmentationOptions& options,
                            const AugmentationParameters& parameters) {
  const int64_t height = images.size(2);
  const int64_t width = images.size(3);
  const auto whole = torch::TensorOptions(torch::kInt32).device(images.device());
  const auto columns = torch::arange(width, whole).view({1, 1, width});
  const auto rows = torch::arange(height, whole).view({1, height, 1});
  const Lookup lookup(images.contiguous(), options, parameters);
  Tensor result;
  if (options.rotation_degrees == 0) {
    result = lookup(columns.expand({1, height, width}), rows.expand({1, height, width}));
  } else {
    const double middle_x = 0.5 * static_cast<double>(width - 1);
    const double middle_y = 0.5 * static_cast<double>(height - 1);
    const auto right = columns.to(torch::kFloat32) - middle_x;
    const auto low = rows.to(torch::kFloat32) - middle_y;
    const auto cosine = parameters.rotation.select(1, 0).view({-1, 1, 1});
    const auto sine = parameters.rotation.select(1, 1).view({-1, 1, 1});
    const auto x = cosine * right - sine * low + middle_x;
    const auto y = sine * right + cosine * low + middle_y;
    const auto nearest = [](const Tensor& place) { return (place + 0.5).floor().to(torch::kInt32); };
    result =
        options.rotation_resampling == Resampling::kNearest ? lookup(nearest(x), nearest(y)) : bilinear(lookup, x, y);
  }
  return options.cutout > 0
             ? with_holes(result, options.cutout, parameters.hole, columns.unsqueeze(0), rows.unsqueeze(0))
             : result;
}

}  // namespace priornet
