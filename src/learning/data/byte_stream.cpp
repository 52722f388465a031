#include "learning/data/byte_stream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "uncertainty/core/parallel.h"

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
      throw DataError(fmt::format("{}: has more than the {} bytes allowed", name_, limit));
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

namespace {

enum class Wrapping { kGzip, kZlib };

class InflateStream final : public ByteStream {
 public:
  InflateStream(ByteStream& compressed, std::unique_ptr<ByteStream> owned, Wrapping wrapping)
      : ByteStream(compressed.name()),
        compressed_(compressed),
        owned_(std::move(owned)),
        wrapping_(wrapping),
        buffer_(std::min<size_t>(kBuffer, static_cast<size_t>(compressed.at_most()) + 1)) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&state_, MAX_WBITS + (wrapping == Wrapping::kGzip ? kGzipOnly : 0)) != Z_OK)
      throw std::bad_alloc();
  }
  ~InflateStream() override { inflateEnd(&state_); }

  int64_t at_most() const override {
    const auto left = compressed_.at_most() + state_.avail_in;
    return left > std::numeric_limits<int64_t>::max() / kLargestDeflateRatio ? left : left * kLargestDeflateRatio;
  }

 private:
  static constexpr size_t kBuffer = size_t{1} << 18;

  size_t read_some(void* to, size_t size) override {
    state_.next_out = static_cast<Bytef*>(to);
    state_.avail_out = static_cast<uInt>(std::min<size_t>(size, size_t{1} << 30));
    const auto wanted = state_.avail_out;
    while (state_.avail_out == wanted) {
      if (ended_ && wrapping_ == Wrapping::kZlib) return 0;
      if (state_.avail_in == 0) {
        state_.next_in = buffer_.data();
        state_.avail_in = static_cast<uInt>(compressed_.read(buffer_.data(), buffer_.size()));
      }
      if (state_.avail_in == 0) {
        if (ended_) return 0;
        throw DataError(fmt::format("{}: ends at byte {}, within {} data", name(), compressed_.offset(), kind()));
      }
      if (ended_) inflateReset(&state_);
      ended_ = false;
      const int status = inflate(&state_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        ended_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw DataError(fmt::format("{}: damaged {} data near byte {}: {}", name(), kind(),
                                    compressed_.offset() - state_.avail_in,
                                    state_.msg == nullptr ? "unknown error" : state_.msg));
      }
    }
    return wanted - state_.avail_out;
  }

  const char* kind() const { return wrapping_ == Wrapping::kGzip ? "gzip" : "zlib"; }

  ByteStream& compressed_;
  std::unique_ptr<ByteStream> owned_;
  Wrapping wrapping_;
  std::vector<unsigned char> buffer_;
  z_stream state_{};
  bool ended_ = false;  ///< the rest is another member
};

}  // namespace

std::string without_gzip(std::string name) {
  constexpr std::string_view kEnding = ".gz";
  if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
  return name;
}

std::unique_ptr<ByteStream> gunzip(std::unique_ptr<ByteStream> compressed) {
  auto& stream = *compressed;
  return std::make_unique<InflateStream>(stream, std::move(compressed), Wrapping::kGzip);
}

std::unique_ptr<ByteStream> gunzip(ByteStream& compressed) {
  return std::make_unique<InflateStream>(compressed, nullptr, Wrapping::kGzip);
}

std::unique_ptr<ByteStream> inflate_zlib(ByteStream& compressed) {
  return std::make_unique<InflateStream>(compressed, nullptr, Wrapping::kZlib);
}

namespace {

// Empty dimensions count as 1, so that the strides of the others fit too.
std::optional<int64_t> checked_bytes(const std::vector<int64_t>& shape, torch::ScalarType dtype) {
  auto bytes = static_cast<int64_t>(c10::elementSize(dtype));
  for (const auto extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) return std::nullopt;
  return std::find(shape.begin(), shape.end(), 0) == shape.end() ? bytes : 0;
}

// Large pages halve the cost of touching memory that is about to be filled.
void ask_for_large_pages(const torch::Tensor& tensor) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kLargePage = uintptr_t{2} << 20;
  const auto begin = (reinterpret_cast<uintptr_t>(tensor.data_ptr()) + kLargePage - 1) & ~(kLargePage - 1);
  const auto end = (reinterpret_cast<uintptr_t>(tensor.data_ptr()) + tensor.nbytes()) & ~(kLargePage - 1);
  if (tensor.nbytes() >= 4 * kLargePage) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace

torch::Tensor memory_for(const ByteStream& bytes, const std::vector<int64_t>& shape, torch::ScalarType dtype) {
  const auto wanted = checked_bytes(shape, dtype);
  if (wanted && *wanted > bytes.at_most())
    throw DataError(fmt::format("{}: [{}] needs {} bytes from byte {} on, but at most {} can follow", bytes.name(),
                                fmt::join(shape, ", "), *wanted, bytes.offset(), bytes.at_most()));
  return memory_for(bytes.name(), shape, dtype);
}

namespace {

int64_t machine_memory() {
  auto bytes = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  for (const auto resource : {RLIMIT_DATA, RLIMIT_AS}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      bytes = std::min(bytes, static_cast<int64_t>(limit.rlim_cur));
  }
  int64_t of_group = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> of_group && of_group > 0) bytes = std::min(bytes, of_group);
  return bytes;
}

// Memory from memory_for that is still in use. Small tensors are not counted.
std::atomic<int64_t>& held_bytes() {
  static std::atomic<int64_t> held = 0;
  return held;
}
constexpr int64_t kCountedBytes = int64_t{1} << 20;

torch::Tensor values_in_memory(const std::vector<int64_t>& shape, torch::ScalarType dtype, int64_t bytes) {
  auto tensor = torch::empty(shape, dtype);
  ask_for_large_pages(tensor);
  if (bytes < kCountedBytes) return tensor;
  held_bytes() += bytes;
  return torch::from_blob(
      tensor.data_ptr(), shape, [tensor, bytes](void*) { held_bytes() -= bytes; }, dtype);
}

std::string scratch_folder() {
  const auto* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/var/tmp";
}

// Undefined if the folder has no room for it.
torch::Tensor values_in_file(const std::vector<int64_t>& shape, torch::ScalarType dtype, int64_t bytes) {
  auto path = scratch_folder() + "/priornet-XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) return {};
  ::unlink(path.c_str());
  void* data = MAP_FAILED;
  // Its blocks are reserved: if the disk filled up later, the process would be killed.
  if (::posix_fallocate(descriptor, 0, bytes) == 0)
    data = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (data == MAP_FAILED) return {};
  return torch::from_blob(
      data, shape, [bytes](void* begin) { ::munmap(begin, static_cast<size_t>(bytes)); }, dtype);
}

}  // namespace

std::optional<int64_t> memory_size(const char* variable) {
  const auto* given = std::getenv(variable);
  if (given == nullptr || *given == '\0') return std::nullopt;
  const std::string_view text = given;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  constexpr std::array<std::pair<const char*, int>, 4> kUnits = {{{"", 0}, {"KB", 10}, {"MB", 20}, {"GB", 30}}};
  for (const auto& [name, bits] : kUnits)
    if (error == std::errc() && unit == name && number >= 0 && number < (int64_t{1} << 32)) return number << bits;
  throw ArgumentError(fmt::format("{} should be a size such as 500MB or 4GB, found \"{}\"", variable, text));
}

int64_t room_for_values() {
  if (const auto given = memory_size("PRIORNET_MEMORY")) return *given;
  static const auto room = machine_memory() / 2;
  return room;
}

torch::Tensor memory_for(const std::string& name, const std::vector<int64_t>& shape, torch::ScalarType dtype) {
  const auto bytes = checked_bytes(shape, dtype);
  const auto what = fmt::format("{}: [{}] does not fit in memory", name, fmt::join(shape, ", "));
  if (!bytes) throw DataError(what);
  try {
    if (*bytes < kCountedBytes || held_bytes() + *bytes <= room_for_values())
      return values_in_memory(shape, dtype, *bytes);
  } catch (const c10::Error&) {  // then use a file
  }
  if (auto values = values_in_file(shape, dtype, *bytes); values.defined()) return values;
  throw DataError(fmt::format("{}, and {} has no room for {} bytes: name another folder with TMPDIR", what,
                              scratch_folder(), *bytes));
}

void touch(const torch::Tensor& memory) {
  constexpr int64_t kPage = 4096;
  constexpr int64_t kLarge = int64_t{2} << 20;
  auto* bytes = static_cast<char*>(memory.data_ptr());
  const auto size = static_cast<int64_t>(memory.nbytes());
  parallel_for(0, size / kLarge, 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin * kLarge; at < end * kLarge; at += kPage) *static_cast<volatile char*>(bytes + at) = 0;
  });
}

}  // namespace priornet
