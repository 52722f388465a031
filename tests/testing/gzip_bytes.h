#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace priornet {

/// The bytes as gzip compresses them.
inline std::string gzip_bytes(std::string_view bytes) {
  constexpr int kGzip = 16;
  z_stream state{};
  if (deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("cannot compress");
  std::string compressed(deflateBound(&state, bytes.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(compressed.data());
  state.avail_out = static_cast<uInt>(compressed.size());
  deflate(&state, Z_FINISH);
  compressed.resize(state.total_out);
  deflateEnd(&state);
  return compressed;
}

}  // namespace priornet
