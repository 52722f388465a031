#include "learning/transforms/point_resize.h"

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

double line(double a, double b, double t) { return a + (b - a) * t; }

double cubic(double a, double b, double c, double d, double t) {
  const double linear = -a + c;
  const double square = 2 * (a - b) + c - d;
  const double cube = -a + b - c + d;
  return b + t * (linear + t * (square + t * cube));
}

uint8_t to_byte(double value) { return static_cast<uint8_t>(static_cast<int>(std::clamp(value, 0.0, 255.0))); }

// Source rows are interpolated along their length once each, then between rows. The two take four values, of which
// bilinear uses the middle ones.
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

}  // namespace

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

void bilinear_points(const PointPlane& plane, const PointPlaces& rows, const PointPlaces& columns) {
  interpolate(plane, rows, columns, [](double, double b, double c, double, double t) { return line(b, c, t); });
}

void bicubic_points(const PointPlane& plane, const PointPlaces& rows, const PointPlaces& columns) {
  interpolate(plane, rows, columns,
              [](double a, double b, double c, double d, double t) { return cubic(a, b, c, d, t); });
}

}  // namespace priornet
