#include <priornet/data/transforms/fitting.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/transforms/pixels.h>

namespace priornet {

ImageShape image_shape(const Dataset& set) {
  if (!set.has_images()) throw DataError(fmt::format("{}: should hold images, holds rows of numbers", set.name));
  return {set.inputs.size(1), set.inputs.size(2), set.inputs.size(3)};
}

Dataset fit_to(const Dataset& set, const ImageShape& shape, const FitOptions& options) {
  const ImageShape found = image_shape(set);
  Dataset result = set;
  if (found.channels != shape.channels) {
    const bool can = (found.channels == 1 && shape.channels == 3) || (found.channels == 3 && shape.channels == 1);
    if (!can)
      throw DataError(fmt::format("{}: images of {} channels cannot be turned into images of {}", set.name,
                                  found.channels, shape.channels));
    // Resizing is the dearer step: it is done on the fewer channels.
    if (shape.channels == 1) result.inputs = to_grey(result.inputs);
  }
  result.inputs =
      resize(result.inputs, ResizeOptions{shape.height, shape.width, options.resampling, options.antialias});
  if (shape.channels == 3) result.inputs = to_rgb(result.inputs);
  return result;
}

}  // namespace priornet
