#pragma once

#include <priornet/learning/resize.h>

#include <array>
#include <cstdint>
#include <vector>

// Resizing without a filter: each pixel is one point of the source, as Pillow's Image.transform has it.

namespace priornet {

/// The source place under each of `to` places, [to]: under its middle, by Pillow's running sum, or under its corner.
std::vector<int64_t> nearest_places(int64_t from, int64_t to, PixelGrid grid);

/// Where a point between source places lies, for every place of an axis.
struct PointPlaces {
  /// The four source places around the point, one before its left neighbour first; the border repeats.
  std::vector<std::array<int32_t, 4>> around;
  std::vector<double> remainder;  ///< how far it lies after around[1], in [0, 1)
};
PointPlaces point_places(int64_t from, int64_t to, PixelGrid grid);

struct PointPlane {
  const uint8_t* in;
  int64_t in_height;
  int64_t in_width;
  uint8_t* out;
};

/// One plane of bytes; the value between grey levels is cut off, not rounded, as Pillow does.
void bilinear_points(const PointPlane& plane, const PointPlaces& rows, const PointPlaces& columns);

/// The same through 4 x 4 pixels. Pillow's cubic here is the one with a = -1, sharper than that of its resize.
void bicubic_points(const PointPlane& plane, const PointPlaces& rows, const PointPlaces& columns);

}  // namespace priornet
