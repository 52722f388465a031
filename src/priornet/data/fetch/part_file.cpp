#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/fetch/part_file.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace priornet {
namespace {

std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix) { return path += suffix; }

// A rename is on disk when its folder is. Not every file system can do that: then it comes a little later.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

PartFile::PartFile(std::filesystem::path path, Progress& progress)
    : final_(std::move(path)), part_(with_suffix(final_, ".part")) {
  std::error_code error;
  std::filesystem::create_directories(final_.parent_path(), error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", final_.parent_path().string(), error.message()));
  open(progress);
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);  // and with it the lock
}

void PartFile::open(Progress& progress) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  while (true) {
    descriptor_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(errno);
    const auto task = "waiting for " + final_.filename().string();
    // A file system without locks is used without: two processes may then spoil the file, and its checksum says so.
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      progress.report(task, 0, 1);
      std::this_thread::sleep_for(kPause);
    }
    if (is_still_there()) return;
    ::close(descriptor_);  // whoever had it before us has given it its name
  }
}

bool PartFile::is_still_there() {
  struct stat ours {};
  struct stat there {};
  if (::fstat(descriptor_, &ours) != 0) fail(errno);
  if (::stat(part_.c_str(), &there) != 0 || ours.st_ino != there.st_ino || ours.st_dev != there.st_dev) return false;
  size_ = ours.st_size;
  return true;
}

void PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
      size_ += written;
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void PartFile::clear() {
  if (::ftruncate(descriptor_, 0) != 0) fail(errno);
  size_ = 0;
}

void PartFile::publish() {
  if (::fsync(descriptor_) != 0) fail(errno);
  if (::rename(final_.c_str(), with_suffix(final_, ".bad").c_str()) != 0 && errno != ENOENT) fail(errno);
  if (::rename(part_.c_str(), final_.c_str()) != 0) fail(errno);
  sync_folder(final_.parent_path());
}

void PartFile::discard() { ::unlink(part_.c_str()); }

void PartFile::set_aside(Progress& progress) {
  if (::rename(part_.c_str(), with_suffix(final_, ".bad").c_str()) != 0) fail(errno);
  ::close(descriptor_);
  open(progress);
}

void PartFile::fail(int error) const {
  throw DataError(fmt::format("{}: cannot be written: {}", part_.string(), std::generic_category().message(error)));
}

}  // namespace priornet
