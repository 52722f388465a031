#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What each image library decodes to. DataError opens with `name`; in a build without the library it says so.

namespace priornet {

/// Rows from the top, pixels from the left, `channels` (1 grey or 3 RGB) bytes a pixel.
struct Pixels {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  std::vector<uint8_t> values;
};

Pixels decode_png(std::string_view bytes, const std::string& name);
Pixels decode_jpeg(std::string_view bytes, const std::string& name);
Pixels decode_webp(std::string_view bytes, const std::string& name);

constexpr int64_t kLargestImageSide = 16'384;
constexpr int64_t kLargestImage = int64_t{1} << 28;  ///< in pixels
/// An image of so many pixels is taken however few bytes it comes in.
constexpr int64_t kHarmlessImage = int64_t{1} << 22;

/// To be asked before memory is taken for what a header claims: DataError, opened by `name`, for a side of 0, a size
/// above those limits, or more pixels than `bytes` bytes can describe (1-bit pixels, deflated as well as can be).
void check_image_size(const std::string& name, int64_t height, int64_t width, int64_t bytes);

}  // namespace priornet
