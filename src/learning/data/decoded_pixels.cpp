#include "learning/data/decoded_pixels.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cstdint>

#include "learning/data/byte_stream.h"

namespace priornet {

void check_image_size(const std::string& name, int64_t height, int64_t width, int64_t bytes) {
  const auto fail = [&](const std::string& wanted) {
    throw DataError(fmt::format("{}: an image of {}x{} pixels, {}", name, width, height, wanted));
  };
  if (height < 1 || width < 1) fail("but each side should have at least 1");
  if (height > kLargestImageSide || width > kLargestImageSide)
    fail(fmt::format("more than the {} allowed per side", kLargestImageSide));
  if (height * width > kLargestImage) fail(fmt::format("more than the {} allowed in all", kLargestImage));
  if (height * width > kHarmlessImage && height * width / (8 * kLargestDeflateRatio) > bytes)
    fail(fmt::format("more than its {} bytes can hold", bytes));
}

int64_t WantedSize::divisor(int64_t stored_height, int64_t stored_width) const {
  if (height < 1 || width < 1) return 1;
  for (const int64_t divisor : {8, 4, 2})
    if (stored_height / divisor >= 3 * height && stored_width / divisor >= 3 * width) return divisor;
  return 1;
}

namespace {

constexpr int kUpright = 1;

// Bytes that may end anywhere; beyond the end they read as 0.
struct Bytes {
  std::string_view text;
  bool low_first = false;

  uint32_t number(size_t at, size_t size) const {
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const auto byte = at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
      value |= byte << (8 * (low_first ? i : size - 1 - i));
    }
    return value;
  }
};

// A TIFF header and its first directory: a count, then entries of tag, type, number of values, value.
int of_tiff(std::string_view text) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  const bool low_first = text.starts_with("II");
  if (!low_first && !text.starts_with("MM")) return kUpright;
  const Bytes bytes{text, low_first};
  const size_t directory = bytes.number(4, 4);
  const auto entries = bytes.number(directory, 2);
  for (size_t i = 0; i < entries && directory + 2 + 12 * (i + 1) <= text.size(); ++i) {
    const auto entry = directory + 2 + 12 * i;
    constexpr uint32_t kTag = 0x0112, kShort = 3;
    if (bytes.number(entry, 2) != kTag) continue;
    const auto value = bytes.number(entry + 8, 2);
    return bytes.number(entry + 2, 2) == kShort && value >= 1 && value <= 8 ? static_cast<int>(value) : kUpright;
  }
  return kUpright;
}

// Segments of a marker and a length (which includes itself), until the pixels begin.
int of_jpeg(std::string_view text) {
  const Bytes bytes{text};
  constexpr uint32_t kExif = 0xe1, kPixels = 0xda;
  for (size_t at = 2; at + 4 <= text.size();) {
    if (bytes.number(at, 1) != 0xff) return kUpright;
    const auto marker = bytes.number(at + 1, 1);
    if (marker == 0xff) {  // padding
      ++at;
      continue;
    }
    if (marker == kPixels) return kUpright;
    const auto length = bytes.number(at + 2, 2);
    if (length < 2) return kUpright;
    const auto body = text.substr(at + 4, length - 2);
    if (marker == kExif && body.starts_with("Exif")) return of_tiff(body);
    at += 2 + length;
  }
  return kUpright;
}

int of_png(std::string_view text) {
  const Bytes bytes{text};
  for (size_t at = 8; at + 12 <= text.size();) {
    const auto length = bytes.number(at, 4);
    if (text.substr(at + 4, 4) == "eXIf") return of_tiff(text.substr(at + 8, length));
    at += 12 + size_t{length};
  }
  return kUpright;
}

int of_webp(std::string_view text) {
  const Bytes bytes{text, true};
  for (size_t at = 12; at + 8 <= text.size();) {
    const auto length = bytes.number(at + 4, 4);
    if (text.substr(at, 4) == "EXIF") return of_tiff(text.substr(at + 8, length));
    at += 8 + size_t{length} + length % 2;
  }
  return kUpright;
}

}  // namespace

int exif_orientation(std::string_view image) {
  if (image.starts_with("\xFF\xD8")) return of_jpeg(image);
  if (image.starts_with("\x89PNG")) return of_png(image);
  if (image.starts_with("RIFF")) return of_webp(image);
  return of_tiff(image);
}

}  // namespace priornet
