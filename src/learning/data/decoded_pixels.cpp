#include "learning/data/decoded_pixels.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include "learning/data/byte_stream.h"

namespace priornet {

void check_image_size(const std::string& name, int64_t height, int64_t width, int64_t bytes) {
  const auto fail = [&](const std::string& wanted) {
    throw DataError(fmt::format("{}: an image of {}x{} pixels, {}", name, width, height, wanted));
  };
  if (height < 1 || width < 1) fail("which is none");
  if (height > kLargestImageSide || width > kLargestImageSide)
    fail(fmt::format("more than the {} a side that are taken", kLargestImageSide));
  if (height * width > kLargestImage) fail(fmt::format("more than the {} in all that are taken", kLargestImage));
  if (height * width > kHarmlessImage && height * width / (8 * kLargestDeflateRatio) > bytes)
    fail(fmt::format("more than its {} bytes can hold", bytes));
}

}  // namespace priornet
