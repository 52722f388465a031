#include <ATen/Parallel.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace priornet {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  // A pipe nobody writes to would block the open itself.
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) fail(errno);
  if (S_ISDIR(status.st_mode)) fail(EISDIR);
  if (!S_ISREG(status.st_mode)) throw DataError(fmt::format("{}: cannot be read: not a regular file", path_.string()));
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
  // Much at once is copied, and fresh memory made, by all threads.
  constexpr size_t kPiece = size_t{4} << 20;
  const auto pieces = static_cast<int64_t>((size + kPiece - 1) / kPiece);
  std::atomic<size_t> done = 0;
  at::parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
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

}  // namespace priornet
