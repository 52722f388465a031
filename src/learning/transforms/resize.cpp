#include <priornet/learning/resize.h>

#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "learning/transforms/resize_filter.h"
#include "uncertainty/core/checks.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

/// How each place along one axis of a resized image is made: the fixed-point weights of a run of source places.
struct FilterWeights {
  static constexpr int kFractionBits = 22;  ///< 8 bits of grey, 2 for overshoot and sign, in 32

  int64_t taps = 0;             ///< room for the weights of one place
  std::vector<int64_t> first;   ///< [size]: where the run begins
  std::vector<int64_t> count;   ///< [size]: its length, at most taps
  std::vector<int32_t> weight;  ///< [size, taps], in units of 2^-22; those of a place sum to 1
};

double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

double cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

/// The triangle (bilinear) or Keys's cubic with a = -1/2 (bicubic), widened by the ratio where the axis shrinks, cut
/// off at the border and scaled to sum to 1: Pillow's own weights, bit for bit. Not for kNearest.
FilterWeights filter_weights(int64_t from, int64_t to, Resampling resampling) {
  const bool is_cubic = resampling == Resampling::kBicubic;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double widening = std::max(scale, 1.0);
  const double support = (is_cubic ? 2.0 : 1.0) * widening;
  const double narrowing = 1.0 / widening;

  FilterWeights result;
  result.taps = 2 * static_cast<int64_t>(std::ceil(support)) + 1;
  result.weight.resize(to * result.taps);
  std::vector<double> exact(result.taps);
  for (int64_t place = 0; place < to; ++place) {
    const double centre = (static_cast<double>(place) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5));
    const int64_t last = std::min<int64_t>(from, static_cast<int64_t>(centre + support + 0.5));
    double sum = 0;
    for (int64_t i = first; i < last; ++i) {
      const double x = (static_cast<double>(i) - centre + 0.5) * narrowing;
      exact[i - first] = is_cubic ? cubic(x) : triangle(x);
      sum += exact[i - first];
    }
    for (int64_t i = 0; i < last - first; ++i) {
      const double units = exact[i] / sum * (1 << FilterWeights::kFractionBits);
      result.weight[place * result.taps + i] = static_cast<int32_t>(units < 0 ? units - 0.5 : units + 0.5);
    }
    result.first.push_back(first);
    result.count.push_back(last - first);
  }
  return result;
}

// Resizing without a filter: each pixel is one point of the source, as in Pillow's Image.transform.

/// Where a point between source places lies, for every place of an axis.
struct PointPlaces {
  /// The four source places around the point, one before its left neighbour first; the border repeats.
  std::vector<std::array<int32_t, 4>> around;
  std::vector<double> remainder;  ///< how far it lies after around[1], in [0, 1)
};

struct PointPlane {
  const uint8_t* in;
  int64_t in_height;
  int64_t in_width;
  uint8_t* out;
};

double line(double a, double b, double t) { return a + (b - a) * t; }

double cubic_between(double a, double b, double c, double d, double t) {
  const double linear = -a + c;
  const double square = 2 * (a - b) + c - d;
  const double cube = -a + b - c + d;
  return b + t * (linear + t * (square + t * cube));
}

uint8_t to_byte(double value) { return static_cast<uint8_t>(static_cast<int>(std::clamp(value, 0.0, 255.0))); }

// Each source row is interpolated along its length once, then rows are mixed. Both steps take four values; bilinear
// uses the middle two.
template <class Between>
void interpolate(const PointPlane& plane, const PointPlaces& rows, const PointPlaces& columns, const Between& between) {
  const size_t width = columns.around.size();
  std::vector<double> values(plane.in_height * width);
  for (int64_t y = 0; y < plane.in_height; ++y) {
    const uint8_t* in = plane.in + y * plane.in_width;
    double* value = values.data() + y * width;
    for (size_t x = 0; x < width; ++x) {
      const auto& at = columns.around[x];
      value[x] = between(in[at[0]], in[at[1]], in[at[2]], in[at[3]], columns.remainder[x]);
    }
  }
  uint8_t* out = plane.out;
  for (size_t y = 0; y < rows.around.size(); ++y, out += width) {
    const auto row = [&](int i) { return values.data() + rows.around[y][i] * width; };
    const double* const a = row(0);
    const double* const b = row(1);
    const double* const c = row(2);
    const double* const d = row(3);
    for (size_t x = 0; x < width; ++x) out[x] = to_byte(between(a[x], b[x], c[x], d[x], rows.remainder[y]));
  }
}

/// The source place under each of `to` places, [to]: under its middle, by Pillow's running sum, or under its corner.
std::vector<int64_t> nearest_places(int64_t from, int64_t to, PixelGrid grid) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<int64_t> result(to);
  double place = grid == PixelGrid::kCentres ? scale * 0.5 : 0.0;
  for (auto& nearest : result) {
    nearest = std::min(static_cast<int64_t>(place), from - 1);
    place += scale;
  }
  return result;
}

PointPlaces point_places(int64_t from, int64_t to, PixelGrid grid) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  PointPlaces result;
  for (int64_t i = 0; i < to; ++i) {
    const double pixel = static_cast<double>(i);
    const double place = grid == PixelGrid::kCentres ? scale * (pixel + 0.5) - 0.5 : scale * pixel;
    const double before = std::floor(place);
    std::array<int32_t, 4> around;
    for (int k = 0; k < 4; ++k)
      around[k] = static_cast<int32_t>(std::clamp<int64_t>(static_cast<int64_t>(before) - 1 + k, 0, from - 1));
    result.around.push_back(around);
    result.remainder.push_back(place - before);
  }
  return result;
}

/// One plane of bytes; the value between grey levels is cut off, not rounded, as Pillow does.
void bilinear_points(const PointPlane& plane, const PointPlaces& rows, const PointPlaces& columns) {
  interpolate(plane, rows, columns, [](double, double b, double c, double, double t) { return line(b, c, t); });
}

/// The same through 4 x 4 pixels. Pillow's cubic here is the one with a = -1, sharper than that of its resize.
void bicubic_points(const PointPlane& plane, const PointPlaces& rows, const PointPlaces& columns) {
  interpolate(plane, rows, columns,
              [](double a, double b, double c, double d, double t) { return cubic_between(a, b, c, d, t); });
}

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

  /// Memory for what lies between the passes; one per thread.
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

  /// Calls body(in, out) for every plane, over threads; make() gives each thread its working memory.
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
    throw ArgumentError("resize: grid=corners does not work with antialiasing: antialias should be off");
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
