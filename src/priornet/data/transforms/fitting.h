#pragma once

#include <priornet/data/dataset.h>
#include <priornet/data/transforms/resize.h>

#include <cstdint>

namespace priornet {

/// What one image measures.
struct ImageShape {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;

  bool operator==(const ImageShape&) const = default;
};

/// Of the images of a set. DataError if it holds none.
ImageShape image_shape(const Dataset& set);

/// How images get another size.
struct FitOptions {
  Resampling resampling = Resampling::kBilinear;
  bool antialias = true;
};

/// The set with images of the given shape, as a network trained on others takes them: grey or RGB (to_grey, to_rgb),
/// then resized. A set that has the shape comes back as it is. DataError, opened by its name, if it holds no images or
/// the channels cannot be matched.
Dataset fit_to(const Dataset& set, const ImageShape& shape, const FitOptions& options = {});

}  // namespace priornet
