#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// MATLAB 5 files, piece by piece.

namespace priornet {

template <typename T>
std::string as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::string mat_header() {
  std::string header = "MATLAB 5.0 MAT-file";
  header.resize(124, ' ');
  return header + std::string("\x00\x01IM", 4);
}

/// An element of data; up to 4 bytes may be packed into its tag, as MATLAB does.
inline std::string mat_element(uint32_t type, std::string_view data, bool small = false) {
  std::string bytes = small ? as_bytes(std::vector{type | static_cast<uint32_t>(data.size()) << 16})
                            : as_bytes(std::vector{type, static_cast<uint32_t>(data.size())});
  bytes += data;
  while (bytes.size() % 8 != 0) bytes.push_back('\0');
  return bytes;
}

/// A matrix of class `kind` (9 is uint8, 6 is double) whose values are stored as `type` (2 is uint8, 9 is double).
inline std::string mat_matrix(const std::string& name, const std::vector<int32_t>& shape, uint32_t kind, uint32_t type,
                              std::string_view values) {
  return mat_element(14, mat_element(6, as_bytes(std::vector<uint32_t>{kind, 0})) + mat_element(5, as_bytes(shape)) +
                             mat_element(1, name, name.size() <= 4) + mat_element(type, values, values.size() <= 4));
}

/// The same element, compressed.
inline std::string mat_compressed(const std::string& element) {
  std::string packed(compressBound(element.size()), '\0');
  auto size = static_cast<uLongf>(packed.size());
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(element.data()),
           element.size());
  packed.resize(size);
  return as_bytes(std::vector{15u, static_cast<uint32_t>(size)}) + packed;
}

}  // namespace priornet
