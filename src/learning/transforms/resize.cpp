#include <priornet/learning/resize.h>

#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <vector>

#include "learning/transforms/point_resize.h"
#include "learning/transforms/resize_filter.h"
#include "learning/transforms/resize_weights.h"
#include "uncertainty/core/checks.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

struct PlaneSize {
  int64_t height;
  int64_t width;
};

int64_t padded(int64_t size) { return (size + kFilterBlock - 1) / kFilterBlock * kFilterBlock; }

/// Shrinks or grows one plane through Pillow's two passes: along the rows, then down the columns, with 8 bits between.
class FilteredPlane {
 public:
  FilteredPlane(PlaneSize from, PlaneSize to, Resampling resampling)
      : from_(from),
        to_(to),
        rows_(filter_weights(from.height, to.height, resampling)),
        columns_(filter_weights(from.width, to.width, resampling)) {}

  /// Room for what lies between the passes; one a thread.
  struct Workspace {
    std::vector<uint8_t> turned, narrowed, upright;
    std::vector<int32_t> wide;
  };
  Workspace workspace() const {
    return {std::vector<uint8_t>(padded(from_.height) * from_.width),
            std::vector<uint8_t>(padded(from_.height) * to_.width),
            std::vector<uint8_t>(padded(to_.width) * from_.height),
            std::vector<int32_t>(std::max(padded(from_.height) * from_.width, padded(to_.width) * from_.height))};
  }

  void run(const uint8_t* in, uint8_t* out, Workspace& space) const {
    const bool is_last = from_.height == to_.height;
    uint8_t* upright = is_last ? out : space.upright.data();
    const int64_t upright_stride = is_last ? to_.width : padded(to_.width);
    along_rows(in, upright, upright_stride, space);
    if (!is_last)
      filter({upright, upright_stride, from_.height, space.wide.data(), out, to_.width, to_.height, to_.width}, rows_);
  }

 private:
  void along_rows(const uint8_t* in, uint8_t* upright, int64_t upright_stride, Workspace& space) const {
    if (from_.width == to_.width) {
      for (int64_t y = 0; y < from_.height; ++y)
        std::copy_n(in + y * from_.width, from_.width, upright + y * upright_stride);
      return;
    }
    uint8_t* turned = space.turned.data();
    uint8_t* narrowed = space.narrowed.data();
    const int64_t stride = padded(from_.height);
    transpose({in, from_.width, turned, stride, from_.height, from_.width}, instructions_);
    filter({turned, stride, from_.width, space.wide.data(), narrowed, stride, to_.width, from_.height}, columns_);
    transpose({narrowed, stride, upright, upright_stride, to_.width, from_.height}, instructions_);
  }

  void filter(const ColumnFilter& planes, const FilterWeights& weights) const {
    filter_columns(
        planes,
        {weights.taps, weights.first.data(), weights.count.data(), weights.weight.data(), FilterWeights::kFractionBits},
        instructions_);
  }

  PlaneSize from_, to_;
  FilterWeights rows_, columns_;
  InstructionSet instructions_ = best_instruction_set();
};

void nearest_plane(const uint8_t* in, PlaneSize in_size, uint8_t* out, const std::vector<int64_t>& rows,
                   const std::vector<int64_t>& columns) {
  for (const int64_t y : rows)
    for (const int64_t x : columns) *out++ = in[y * in_size.width + x];
}

struct Planes {
  const uint8_t* in;
  PlaneSize from;
  uint8_t* out;
  PlaneSize to;
  int64_t count;

  /// Calls body(in, out) for every plane, over threads; make() gives each thread what it works with.
  template <class Make, class Body>
  void each(const Make& make, const Body& body) const {
    parallel_rows(count, from.height * from.width + to.height * to.width, [&](int64_t begin, int64_t end) {
      auto space = make();
      for (int64_t i = begin; i < end; ++i)
        body(in + i * from.height * from.width, out + i * to.height * to.width, space);
    });
  }
};

void resize_planes(const Planes& planes, const ResizeOptions& options) {
  const auto [in, from, out, to, count] = planes;
  const auto nothing = [] { return 0; };
  if (options.resampling == Resampling::kNearest) {
    const auto rows = nearest_places(from.height, to.height, options.grid);
    const auto columns = nearest_places(from.width, to.width, options.grid);
    planes.each(nothing, [&, size = from](const uint8_t* source, uint8_t* target, int) {
      nearest_plane(source, size, target, rows, columns);
    });
  } else if (options.antialias) {
    const FilteredPlane plane(from, to, options.resampling);
    planes.each([&] { return plane.workspace(); },
                [&](const uint8_t* source, uint8_t* target, auto& space) { plane.run(source, target, space); });
  } else {
    const auto rows = point_places(from.height, to.height, options.grid);
    const auto columns = point_places(from.width, to.width, options.grid);
    const auto points = options.resampling == Resampling::kBilinear ? bilinear_points : bicubic_points;
    planes.each(nothing, [&, size = from](const uint8_t* source, uint8_t* target, int) {
      points({source, size.height, size.width, target}, rows, columns);
    });
  }
}

}  // namespace

torch::Tensor resize(const torch::Tensor& images, const ResizeOptions& options) {
  check_images("resize", images);
  check_range("resize", "height", options.height >= 1, "at least 1", static_cast<double>(options.height));
  check_range("resize", "width", options.width >= 1, "at least 1", static_cast<double>(options.width));
  if (options.grid == PixelGrid::kCorners && options.antialias && options.resampling != Resampling::kNearest)
    throw ArgumentError("resize: a grid of corners has no antialiasing: antialias should be off");
  const PlaneSize from{images.size(-2), images.size(-1)};
  const PlaneSize to{options.height, options.width};
  if (from.height == to.height && from.width == to.width) return images;
  const auto source = images.to(torch::kCPU).contiguous();
  auto shape = images.sizes().vec();
  shape[shape.size() - 2] = to.height;
  shape[shape.size() - 1] = to.width;
  const auto result = torch::empty(shape, torch::kUInt8);
  const int64_t count = result.numel() / (to.height * to.width);
  resize_planes({source.data_ptr<uint8_t>(), from, result.data_ptr<uint8_t>(), to, count}, options);
  return result.to(images.device());
}

}  // namespace priornet
