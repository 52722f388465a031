#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// An IDX file of uint8 with these sizes in its header and these values after it.
inline std::string idx_bytes(const std::vector<uint32_t>& sizes, std::string_view values) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const auto size : sizes)
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(size >> shift));
  return bytes.append(values);
}

}  // namespace priornet
