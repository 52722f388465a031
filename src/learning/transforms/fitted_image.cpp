#include "learning/transforms/fitted_image.h"

#include <fmt/format.h>
#include <priornet/learning/images.h>
#include <priornet/learning/resize.h>
#include <priornet/uncertainty/errors.h>

#include <vector>

namespace priornet {

torch::Tensor decode_fitted(std::string_view bytes, const std::string& name, const ImageShape& shape) {
  if (shape.channels != 1 && shape.channels != 3)
    throw DataError(fmt::format("{}: images cannot be turned into images of {} channels", name, shape.channels));
  BandOptions options;
  options.channels = shape.channels == 1 ? Channels::kGrey : Channels::kAsStored;
  // A picture that is stored lying is resized as it lies, and turned when it is small.
  const auto orientation = image_facts(bytes, name).orientation;
  const bool lies = orientation >= 5;
  options.height = lies ? shape.width : shape.height;
  options.width = lies ? shape.height : shape.width;
  // The filter goes along the rows first, and a row needs no other for it.
  std::vector<torch::Tensor> narrowed;
  decode_image_bands(bytes, name, options, [&](const torch::Tensor& band) {
    const auto result = resize(band, ResizeOptions{band.size(1), options.width});
    narrowed.push_back(result.is_same(band) ? band.clone() : result);
  });
  const auto image = resize(torch::cat(narrowed, 1), ResizeOptions{options.height, options.width});
  return upright(shape.channels == 3 ? to_rgb(image) : image, orientation);
}

}  // namespace priornet
