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

}  // namespace priornet
