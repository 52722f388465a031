#pragma once

#include <priornet/uncertainty/errors.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace priornet {

/// A reader may accept the bytes or refuse them with DataError; any other exception is a finding.
template <class Read>
int taken_or_refused(const Read& read) {
  try {
    read();
  } catch (const DataError&) {
  }
  return 0;
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace priornet
