#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/core/atomic_file.h>
#include <priornet/core/errors.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace priornet {
namespace {

// Does not carry the name of the file: that may already be as long as a name can be.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  return path.parent_path() / fmt::format(".priornet-{}-{}.tmp", ::getpid(), count++);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), target_(path_) {
  std::error_code ignored;
  if (const auto followed = std::filesystem::canonical(path_, ignored); !ignored) target_ = followed;

  // A rename would replace what an ordinary write could not touch: a read-only file, a device.
  struct stat older {};
  const bool exists = ::stat(target_.c_str(), &older) == 0;
  if (exists && S_ISDIR(older.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(older.st_mode))
    throw DataError(fmt::format("{}: cannot be written: not a regular file", path_.string()));
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);

  temporary_ = temporary_beside(target_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(errno);
  if (exists) (void)!::fchmod(descriptor_, older.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
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

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail(errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  ::close(descriptor_);
  descriptor_ = -1;
}

void AtomicFile::fail(int error) const {
  throw DataError(fmt::format("{}: cannot be written: {}", path_.string(), std::generic_category().message(error)));
}

}  // namespace priornet
