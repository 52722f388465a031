#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <webp/decode.h>

#include <vector>

#include "learning/data/decoded_pixels.h"

namespace priornet {
namespace {

const uint8_t* data_of(std::string_view bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }

[[noreturn]] void fail(const std::string& name, const char* reason) {
  throw DataError(fmt::format("{}: does not decode as WebP: {}", name, reason));
}

WebPBitstreamFeatures features_of(std::string_view bytes, const std::string& name) {
  WebPBitstreamFeatures features;
  const auto status = WebPGetFeatures(data_of(bytes), bytes.size(), &features);
  if (status != VP8_STATUS_OK) fail(name, status == VP8_STATUS_NOT_ENOUGH_DATA ? "ends too soon" : "damaged header");
  if (features.has_animation != 0) fail(name, "an animation, not a picture");
  check_image_size(name, features.height, features.width, static_cast<int64_t>(bytes.size()));
  return features;
}

}  // namespace

ImageFacts webp_facts(std::string_view bytes, const std::string& name) {
  constexpr int kLossless = 2;
  const auto features = features_of(bytes, name);
  const auto pixels = int64_t{features.height} * features.width;
  // The decoded pixels and, for a lossless image, the pixels it is copied from.
  return {features.height, features.width, pixels * (features.format == kLossless ? 3 + 4 : 3)};
}

void read_webp(std::string_view bytes, const std::string& name, const WantedSize& wanted, PixelRows& rows) {
  const auto features = features_of(bytes, name);
  const auto divisor = wanted.divisor(features.height, features.width);
  const auto height = features.height / divisor;
  const auto width = features.width / divisor;
  std::vector<uint8_t> pixels(static_cast<size_t>(3 * height * width));
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) fail(name, "this libwebp is not the one the program was built with");
  config.options.use_scaling = divisor > 1 ? 1 : 0;
  config.options.scaled_height = static_cast<int>(height);
  config.options.scaled_width = static_cast<int>(width);
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = pixels.data();
  config.output.u.RGBA.size = pixels.size();
  config.output.u.RGBA.stride = static_cast<int>(3 * width);
  if (WebPDecode(data_of(bytes), bytes.size(), &config) != VP8_STATUS_OK) fail(name, "damaged or truncated");
  rows.begin(height, width, 3);
  for (int64_t y = 0; y < height; ++y) rows.take(pixels.data() + 3 * y * width);
}

}  // namespace priornet
