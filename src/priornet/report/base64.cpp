#include <priornet/report/base64.h>

#include <algorithm>
#include <cstdint>

namespace priornet {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t first = 0; first < bytes.size(); first += 3) {
    const auto count = std::min<size_t>(3, bytes.size() - first);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? static_cast<uint8_t>(bytes[first + i]) : uint32_t{0});
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace priornet
