#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// Bytes read from start to end: of a file, of a compressed file, of a file in an archive, of memory.
/// Every failure throws DataError, which begins with the stream's name.
class ByteStream {
 public:
  explicit ByteStream(std::string name) : name_(std::move(name)) {}
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Opens every message: "mnist/train-labels-idx1-ubyte", or "cifar-10-binary.tar.gz:
  /// cifar-10-batches-bin/test_batch.bin".
  const std::string& name() const { return name_; }

  /// How many bytes were read.
  int64_t offset() const { return offset_; }

  /// At most this many bytes can follow. Check it before taking memory for what a header claims.
  virtual int64_t at_most() const = 0;

  /// Reads up to `size` bytes, fewer only at the end, and returns how many.
  size_t read(void* to, size_t size);

  /// Reads exactly `size` bytes. If the stream ends earlier: "NAME: ends at byte 20 (of WHAT, 100 bytes from byte 16)".
  void read_exactly(void* to, size_t size, std::string_view what);

  /// All remaining bytes; DataError if there are more than `limit`.
  std::string read_rest(int64_t limit);

  /// Skips the rest.
  void skip_rest();

  /// DataError if there is another byte: "NAME: goes on after byte 100, where WHAT ends".
  void expect_end(std::string_view what);

 private:
  /// At least one byte, or 0 at the end.
  virtual size_t read_some(void* to, size_t size) = 0;

  std::string name_;
  int64_t offset_ = 0;
};

/// Bytes that are already in memory; they must outlive the stream.
class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::string name, std::string_view bytes) : ByteStream(std::move(name)), bytes_(bytes) {}
  int64_t at_most() const override { return static_cast<int64_t>(bytes_.size()); }

 private:
  size_t read_some(void* to, size_t size) override;

  std::string_view bytes_;  ///< not yet read
};

/// The next `size` bytes of a stream, as a stream of their own. The other stream must outlive it.
class PartStream final : public ByteStream {
 public:
  PartStream(std::string name, ByteStream& whole, int64_t size)
      : ByteStream(std::move(name)), whole_(whole), left_(size) {}
  int64_t at_most() const override;

 private:
  size_t read_some(void* to, size_t size) override;

  ByteStream& whole_;
  int64_t left_;
};

/// The bytes of an expanded gzip stream (RFC 1952, one member or several). The name stays that of the compressed bytes;
/// DataError names their offset where they are damaged or end too soon.
std::unique_ptr<ByteStream> gunzip(std::unique_ptr<ByteStream> compressed);

/// The same over a stream that must outlive it.
std::unique_ptr<ByteStream> gunzip(ByteStream& compressed);

/// The same for a zlib stream (RFC 1950), which ends with its checksum; bytes after that are left out.
std::unique_ptr<ByteStream> inflate_zlib(ByteStream& compressed);

/// The name of what NAME.gz expands to: NAME. Others stay as they are.
std::string without_gzip(std::string name);

/// Deflate cannot compress better: a header that claims a higher ratio is wrong.
constexpr int64_t kLargestDeflateRatio = 1032;

/// Uninitialised memory, on the CPU, for values that the next bytes of a stream will fill. DataError, which begins with
/// the stream's name, before anything is allocated, if the shape takes more bytes than can follow or than fit in
/// memory: "NAME: [60000, 28, 28] needs 47040000 bytes from byte 16 on, but at most 100 can follow".
torch::Tensor memory_for(const ByteStream& bytes, const std::vector<int64_t>& shape, torch::ScalarType dtype);

/// The same if the shape was already checked in another way: "NAME: [60000, 28, 28] does not fit in memory". If
/// everything from this function that is still in use would take more than room_for_values(), the memory is that of a
/// file without a name, in TMPDIR or /var/tmp: the system moves unused pages there.
torch::Tensor memory_for(const std::string& name, const std::vector<int64_t>& shape, torch::ScalarType dtype);

/// In bytes: PRIORNET_MEMORY, such as "500MB" or "4GB"; otherwise half of the memory that the machine, the control
/// group or the limits of this process allow. ArgumentError if PRIORNET_MEMORY is not a size.
int64_t room_for_values();

/// The size in bytes that an environment variable names, as 500MB or 4GB; nothing if it is not set. ArgumentError for
/// anything else.
std::optional<int64_t> memory_size(const char* variable);

/// Lets all threads touch the memory's pages now, for values that are sure to come: most of the cost of filling fresh
/// memory is this.
void touch(const torch::Tensor& memory);

}  // namespace priornet
