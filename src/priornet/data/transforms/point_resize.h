#pragma once

#include <cstdint>
#include <vector>

// Resizing without a filter: each pixel is one point of the source, as Pillow's Image.transform has it.

namespace priornet {

struct PlaneSize {
  int64_t height;
  int64_t width;
};

/// The source place under the middle of each of `to` places, by Pillow's running sum, [to].
std::vector<int64_t> nearest_places(int64_t from, int64_t to);

/// Where a point between source places lies, for every place of an axis.
struct PointPlaces {
  std::vector<int64_t> before;    ///< the source place at or before the point; -1 left of the first
  std::vector<double> remainder;  ///< how far after it, in [0, 1)
};
PointPlaces point_places(int64_t from, int64_t to);

/// One plane of bytes; the value between grey levels is cut off, not rounded, as Pillow does.
void bilinear_points(const uint8_t* in, PlaneSize in_size, uint8_t* out, const PointPlaces& rows,
                     const PointPlaces& columns);

/// The same through 4 x 4 pixels. Pillow's cubic here is the one with a = -1, sharper than that of its resize.
void bicubic_points(const uint8_t* in, PlaneSize in_size, uint8_t* out, const PointPlaces& rows,
                    const PointPlaces& columns);

}  // namespace priornet
