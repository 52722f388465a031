#pragma once

#include "tool/downloads/download.h"

#include <random>
#include <string>

namespace priornet {

/// Bytes of no meaning, the same for the same seed.
inline std::string random_bytes(size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

inline std::string sha256_of_bytes(std::string_view bytes) {
  Checksum checksum(Digest::kSha256);
  checksum.add(bytes);
  return checksum.hexadecimal();
}

}  // namespace priornet
