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

int64_t WantedSize::divisor(int64_t stored_height, int64_t stored_width) const {
  if (height < 1 || width < 1) return 1;
  for (const int64_t divisor : {8, 4, 2})
    if (stored_height / divisor >= 3 * height && stored_width / divisor >= 3 * width) return divisor;
  return 1;
}

}  // namespace priornet
