#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <webp/decode.h>

#include "learning/data/decoded_pixels.h"

namespace priornet {

Pixels decode_webp(std::string_view bytes, const std::string& name) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto fail = [&](const char* reason) {
    throw DataError(fmt::format("{}: does not decode as WebP: {}", name, reason));
  };
  WebPBitstreamFeatures features;
  const auto status = WebPGetFeatures(data, bytes.size(), &features);
  if (status != VP8_STATUS_OK) fail(status == VP8_STATUS_NOT_ENOUGH_DATA ? "ends too soon" : "damaged header");
  if (features.has_animation != 0) fail("an animation, not a picture");
  Pixels pixels{features.height, features.width, 3, {}};
  check_image_size(name, pixels.height, pixels.width, static_cast<int64_t>(bytes.size()));
  pixels.values.resize(static_cast<size_t>(3 * pixels.height * pixels.width));
  if (WebPDecodeRGBInto(data, bytes.size(), pixels.values.data(), pixels.values.size(), 3 * features.width) == nullptr)
    fail("damaged or truncated");
  return pixels;
}

}  // namespace priornet
