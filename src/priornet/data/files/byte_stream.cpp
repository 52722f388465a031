#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/files/byte_stream.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace priornet {

size_t ByteStream::read(void* to, size_t size) {
  size_t done = 0;
  while (done < size) {
    const auto got = read_some(static_cast<char*>(to) + done, size - done);
    if (got == 0) break;
    done += got;
  }
  offset_ += static_cast<int64_t>(done);
  return done;
}

void ByteStream::read_exactly(void* to, size_t size, std::string_view what) {
  const auto begin = offset_;
  if (read(to, size) < size)
    throw DataError(
        fmt::format("{}: ends at byte {} (of {}, {} bytes from byte {})", name_, offset_, what, size, begin));
}

std::string ByteStream::read_rest(int64_t limit) {
  constexpr size_t kPiece = size_t{1} << 20;
  std::string bytes;
  while (true) {
    const auto done = bytes.size();
    const auto piece = std::min(kPiece, static_cast<size_t>(std::min<int64_t>(at_most(), limit)) + 1);
    bytes.resize(done + piece);
    const auto got = read(bytes.data() + done, piece);
    bytes.resize(done + got);
    if (static_cast<int64_t>(bytes.size()) > limit)
      throw DataError(fmt::format("{}: goes on after {} bytes, the most that is taken of it", name_, limit));
    if (got < piece) return bytes;
  }
}

void ByteStream::skip_rest() {
  std::array<char, size_t{1} << 16> ignored;
  while (read(ignored.data(), ignored.size()) == ignored.size()) {
  }
}

void ByteStream::expect_end(std::string_view what) {
  const auto end = offset_;
  char byte = 0;
  if (read(&byte, 1) != 0) throw DataError(fmt::format("{}: goes on after byte {}, where {} ends", name_, end, what));
}

size_t MemoryStream::read_some(void* to, size_t size) {
  const auto count = std::min(size, bytes_.size());
  if (count > 0) std::memcpy(to, bytes_.data(), count);
  bytes_.remove_prefix(count);
  return count;
}

int64_t PartStream::at_most() const { return std::min(left_, whole_.at_most()); }

size_t PartStream::read_some(void* to, size_t size) {
  const auto got = whole_.read(to, std::min(size, static_cast<size_t>(left_)));
  left_ -= static_cast<int64_t>(got);
  return got;
}

}  // namespace priornet
