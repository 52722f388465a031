#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/fetch/scratch_folder.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace priornet {
namespace fs = std::filesystem;
namespace {

constexpr auto kPrefix = ".fetch-";

// The folder's descriptor with its lock, or -1: a living process has it.
int locked(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

void remove_left_behind(const fs::path& root) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix) || !entry.is_directory(ignored)) continue;
    const int lock = locked(entry.path());
    if (lock < 0) continue;
    fs::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& root) {
  std::error_code error;
  fs::create_directories(root, error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", root.string(), error.message()));
  remove_left_behind(root);
  auto name = (fs::absolute(root) / (std::string(kPrefix) + "XXXXXX")).string();
  // Another process may take it for left behind before it is locked: then there is another name.
  while (lock_ < 0) {
    if (::mkdtemp(name.data()) == nullptr)
      throw DataError(
          fmt::format("{}: no folder can be made in it: {}", root.string(), std::generic_category().message(errno)));
    lock_ = locked(name);
    if (lock_ >= 0 && !fs::exists(name)) {
      ::close(lock_);
      lock_ = -1;
    }
    if (lock_ < 0) name.replace(name.size() - 6, 6, "XXXXXX");
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace priornet
