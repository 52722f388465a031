#include "learning/base/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <system_error>

#include "uncertainty/core/parallel.h"

namespace priornet {
namespace {

// The temporary name does not contain the file's name, which may already be as long as a name can be. Processes of
// several machines, or of containers, may have the same number.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static const auto own = std::random_device{}();
  static std::atomic<unsigned> count{0};
  return path.parent_path() / fmt::format(".priornet-{}-{:08x}-{}.tmp", ::getpid(), own, count++);
}

// A file without a name, which disappears if its process ends; -1 if the file system cannot make one, or could not give
// it a name later.
int nameless_beside(const std::filesystem::path& path) {
#ifdef O_TMPFILE
  if (::access("/proc/self/fd", X_OK) != 0) return -1;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#else
  static_cast<void>(path);
  return -1;
#endif
}

}  // namespace

void sync_folder(const std::filesystem::path& folder) {
  const auto* name = folder.empty() ? "." : folder.c_str();
  const int descriptor = ::open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), target_(path_) {
  std::error_code ignored;
  if (const auto followed = std::filesystem::canonical(path_, ignored); !ignored) target_ = followed;

  // A rename would replace what an ordinary write could not touch: a read-only file, a device.
  struct stat older {};
  const bool exists = ::stat(target_.c_str(), &older) == 0;
  if (exists && S_ISDIR(older.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(older.st_mode))
    throw DataError(fmt::format("{}: cannot be written: it is not a regular file", path_.string()));
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);

  descriptor_ = nameless_beside(target_);
  if (descriptor_ < 0) {
    temporary_ = temporary_beside(target_);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) fail(errno);
  if (exists) (void)!::fchmod(descriptor_, older.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void AtomicFile::write_over(size_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
      offset += static_cast<size_t>(written);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

std::shared_ptr<FileMapping> AtomicFile::mapping() const {
  auto mapped = FileMapping::of(descriptor_);
  if (!mapped) fail(errno);
  return mapped;
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail(errno);
  if (temporary_.empty()) {
    const auto itself = fmt::format("/proc/self/fd/{}", descriptor_);
    const auto name = temporary_beside(target_);
    if (::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) fail(errno);
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder(target_.parent_path());
}

void AtomicFile::fail(int error) const {
  throw DataError(fmt::format("{}: cannot be written: {}", path_.string(), std::generic_category().message(error)));
}

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  // Opening a pipe that nobody writes to would block.
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) fail(errno);
  if (S_ISDIR(status.st_mode)) fail(EISDIR);
  if (!S_ISREG(status.st_mode))
    throw DataError(fmt::format("{}: cannot be read: it is not a regular file", path_.string()));
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  size_ = status.st_size;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

size_t InputFile::read_at(int64_t offset, void* to, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const auto got = ::pread(descriptor_, static_cast<char*>(to) + done, size - done,
                             static_cast<off_t>(offset + static_cast<int64_t>(done)));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  return done;
}

size_t InputFile::read(void* to, size_t size) {
  // All threads copy, and touch fresh memory, when there is much of it.
  constexpr size_t kPiece = size_t{4} << 20;
  const auto pieces = static_cast<int64_t>((size + kPiece - 1) / kPiece);
  std::atomic<size_t> done = 0;
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      done += read_at(position_ + static_cast<int64_t>(i * kPiece), static_cast<char*>(to) + i * kPiece,
                      std::min(kPiece, size - i * kPiece));
  });
  position_ += static_cast<int64_t>(done);
  return done;
}

std::string InputFile::read_rest() {
  std::string bytes(position_ < size_ ? static_cast<size_t>(size_ - position_) : 0, '\0');
  bytes.resize(read(bytes.data(), bytes.size()));
  return bytes;
}

void InputFile::fail(int error) const {
  throw DataError(fmt::format("{}: cannot be read: {}", path_.string(), std::generic_category().message(error)));
}

namespace {

constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;  // odd, so that no step loses bits, and well mixed

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kFactor;
  return hash ^ hash >> 32;  // a product only carries upwards
}

}  // namespace

// Several chains side by side: one multiplication takes longer than the next one should wait.
ContentHash::ContentHash() {
  for (size_t c = 0; c < kChains; ++c) chains_[c] = 0xCBF29CE484222325 + c;
}

void ContentHash::add_block(const char* bytes) {
  std::array<uint64_t, kChains> words;
  std::memcpy(words.data(), bytes, kBlock);
  for (size_t c = 0; c < kChains; ++c) chains_[c] = mixed(chains_[c], words[c]);
}

void ContentHash::add(std::string_view bytes) {
  const auto begun = static_cast<size_t>(size_ % kBlock);
  size_ += bytes.size();
  if (begun > 0) {
    const auto taken = std::min(kBlock - begun, bytes.size());
    std::memcpy(rest_.data() + begun, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (begun + taken < kBlock) return;
    add_block(rest_.data());
  }
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) add_block(bytes.data());
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
}

uint64_t ContentHash::value() const {
  uint64_t hash = mixed(0, size_);
  for (const uint64_t chain : chains_) hash = mixed(hash, chain);
  for (size_t i = 0; i < size_ % kBlock; ++i) hash = mixed(hash, static_cast<unsigned char>(rest_[i]));
  return hash;
}

uint64_t content_hash(std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.value();
}

std::shared_ptr<FileMapping> FileMapping::open(const std::filesystem::path& path) {
  // Does not wait for a writer if the name is that of a pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return nullptr;
  auto mapping = of(descriptor);
  ::close(descriptor);
  return mapping;
}

std::shared_ptr<FileMapping> FileMapping::of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return nullptr;
  const auto size = static_cast<size_t>(status.st_size);
  // The system counts writable memory as taken, whether it is used or not.
  auto* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED) data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED) return nullptr;
  // If the file does not fit in memory, its first pages would be gone before they are read.
  const auto memory = static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (size < memory / 4) ::madvise(data, size, MADV_WILLNEED);
  return std::shared_ptr<FileMapping>(new FileMapping(static_cast<char*>(data), size));
}

FileMapping::~FileMapping() { ::munmap(data_, size_); }

}  // namespace priornet
