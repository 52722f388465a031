#include <priornet/learning/images.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/data/decoded_pixels.h"

namespace priornet {
namespace {

Pixels decode_pixels(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(bytes, name);
  if (bytes.starts_with("\xFF\xD8\xFF")) return decode_jpeg(bytes, name);
  if (bytes.starts_with("RIFF") && bytes.substr(std::min<size_t>(8, bytes.size())).starts_with("WEBP"))
    return decode_webp(bytes, name);
  std::string found;
  for (const unsigned char byte : bytes.substr(0, 8)) found += fmt::format(" {:02x}", byte);
  throw DataError(fmt::format("{}: should be a PNG, JPEG or WebP image, {}", name,
                              found.empty() ? "found no bytes" : "begins with the bytes" + found));
}

uint8_t grey_of(const uint8_t* rgb) {
  return static_cast<uint8_t>((19595U * rgb[0] + 38470U * rgb[1] + 7471U * rgb[2] + 0x8000U) >> 16);
}

// One plane a channel, from pixels that lie interleaved.
void to_planes(const Pixels& pixels, int64_t channels, uint8_t* to) {
  const auto area = pixels.height * pixels.width;
  const auto* from = pixels.values.data();
  if (pixels.channels == 1) {
    for (int64_t c = 0; c < channels; ++c) std::copy_n(from, area, to + c * area);
  } else if (channels == 1) {
    for (int64_t i = 0; i < area; ++i) to[i] = grey_of(from + 3 * i);
  } else {
    for (int64_t i = 0; i < area; ++i)
      for (int64_t c = 0; c < 3; ++c) to[c * area + i] = from[3 * i + c];
  }
}

}  // namespace

torch::Tensor decode_image(std::string_view bytes, const std::string& name, Channels channels) {
  const auto pixels = decode_pixels(bytes, name);
  const auto wanted = channels == Channels::kAsStored ? pixels.channels : channels == Channels::kGrey ? 1 : 3;
  auto image = torch::empty({wanted, pixels.height, pixels.width}, torch::kUInt8);
  to_planes(pixels, wanted, image.data_ptr<uint8_t>());
  return image;
}

}  // namespace priornet
