#include <priornet/data/transforms/point_resize.h>

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

uint8_t to_byte(double value) { return value <= 0 ? 0 : value >= 255 ? 255 : static_cast<uint8_t>(value); }

// Every source row is interpolated along its length once, then the rows are interpolated between.
template <class AlongRow>
std::vector<double> all_rows(const uint8_t* in, PlaneSize in_size, const PointPlaces& columns,
                             const AlongRow& along_row) {
  const auto width = static_cast<int64_t>(columns.before.size());
  std::vector<double> result(in_size.height * width);
  for (int64_t y = 0; y < in_size.height; ++y)
    for (int64_t x = 0; x < width; ++x)
      result[y * width + x] = along_row(in + y * in_size.width, columns.before[x], columns.remainder[x]);
  return result;
}

}  // namespace

std::vector<int64_t> nearest_places(int64_t from, int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<int64_t> result(to);
  double place = scale * 0.5;
  for (auto& nearest : result) {
    nearest = std::min(static_cast<int64_t>(place), from - 1);
    place += scale;
  }
  return result;
}

PointPlaces point_places(int64_t from, int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  PointPlaces result;
  for (int64_t i = 0; i < to; ++i) {
    const double place = scale * (static_cast<double>(i) + 0.5) - 0.5;
    const double before = std::floor(place);
    result.before.push_back(static_cast<int64_t>(before));
    result.remainder.push_back(place - before);
  }
  return result;
}

void bilinear_points(const uint8_t* in, PlaneSize in_size, uint8_t* out, const PointPlaces& rows,
                     const PointPlaces& columns) {
  const auto width = static_cast<int64_t>(columns.before.size());
  const auto at_column = [&](int64_t x) { return std::clamp<int64_t>(x, 0, in_size.width - 1); };
  const auto values = all_rows(in, in_size, columns, [&](const uint8_t* row, int64_t x, double t) {
    return line(row[at_column(x)], row[at_column(x + 1)], t);
  });
  const auto row = [&](int64_t y) { return values.data() + std::clamp<int64_t>(y, 0, in_size.height - 1) * width; };
  for (size_t y = 0; y < rows.before.size(); ++y, out += width) {
    const double* above = row(rows.before[y]);
    const double* below = row(rows.before[y] + 1);
    for (int64_t x = 0; x < width; ++x) out[x] = to_byte(line(above[x], below[x], rows.remainder[y]));
  }
}

void bicubic_points(const uint8_t* in, PlaneSize in_size, uint8_t* out, const PointPlaces& rows,
                    const PointPlaces& columns) {
  const auto width = static_cast<int64_t>(columns.before.size());
  const auto at_column = [&](int64_t x) { return std::clamp<int64_t>(x, 0, in_size.width - 1); };
  const auto values = all_rows(in, in_size, columns, [&](const uint8_t* row, int64_t x, double t) {
    return cubic(row[at_column(x - 1)], row[at_column(x)], row[at_column(x + 1)], row[at_column(x + 2)], t);
  });
  const auto row = [&](int64_t y) { return values.data() + std::clamp<int64_t>(y, 0, in_size.height - 1) * width; };
  for (size_t y = 0; y < rows.before.size(); ++y, out += width) {
    const int64_t before = rows.before[y];
    const double* four[] = {row(before - 1), row(before), row(before + 1), row(before + 2)};
    for (int64_t x = 0; x < width; ++x)
      out[x] = to_byte(cubic(four[0][x], four[1][x], four[2][x], four[3][x], rows.remainder[y]));
  }
}

}  // namespace priornet
