#pragma once

#include <priornet/data/files/byte_stream.h>

#include <memory>

namespace priornet {

/// What a gzip stream (RFC 1952, one member or several) expands to. The name stays that of the compressed bytes;
/// DataError names their offset where they are damaged or end too soon.
std::unique_ptr<ByteStream> gunzip(std::unique_ptr<ByteStream> compressed);

/// The same over a stream that outlives it.
std::unique_ptr<ByteStream> gunzip(ByteStream& compressed);

/// The same of a zlib stream (RFC 1950), which ends with its checksum; what follows that is left out.
std::unique_ptr<ByteStream> inflate_zlib(ByteStream& compressed);

/// The name of what NAME.gz expands to: NAME. Others stay as they are.
std::string without_gzip(std::string name);

/// Deflate cannot do better: whoever claims a higher ratio lies.
constexpr int64_t kLargestDeflateRatio = 1032;

}  // namespace priornet
