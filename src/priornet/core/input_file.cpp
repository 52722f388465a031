#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <sys/stat.h>
#include <unistd.h>

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

size_t InputFile::read(void* to, size_t size) {
  size_t done = 0;
  while (done < size) {
    const auto got = ::read(descriptor_, static_cast<char*>(to) + done, size - done);
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  return done;
}

std::string InputFile::read_rest() {
  const auto here = ::lseek(descriptor_, 0, SEEK_CUR);
  std::string bytes(here < size_ ? static_cast<size_t>(size_ - here) : 0, '\0');
  bytes.resize(read(bytes.data(), bytes.size()));
  return bytes;
}

void InputFile::fail(int error) const {
  throw DataError(fmt::format("{}: cannot be read: {}", path_.string(), std::generic_category().message(error)));
}

}  // namespace priornet
