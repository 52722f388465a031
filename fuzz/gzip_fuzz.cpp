#include <fuzz/rejection.h>
#include "learning/data/byte_stream.h"

#include <array>

using namespace priornet;

// The first byte is the size of the pieces in which the expanded bytes are read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto bytes = text_of(data, size).substr(1);
  std::array<char, 1024> piece;
  const size_t length = 1 + size_t{data[0]} * 4 % piece.size();
  const auto read_all = [&](ByteStream& expanded) {
    while (expanded.read(piece.data(), length) == length) {
    }
    if (expanded.offset() > static_cast<int64_t>(size) * kLargestDeflateRatio) __builtin_trap();
  };
  taken_or_refused([&] {
    MemoryStream stream("gzip", bytes);
    read_all(*gunzip(stream));
  });
  return taken_or_refused([&] {
    MemoryStream stream("zlib", bytes);
    read_all(*inflate_zlib(stream));
  });
}
