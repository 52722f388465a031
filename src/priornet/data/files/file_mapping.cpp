#include <fcntl.h>
#include <priornet/data/files/file_mapping.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace priornet {

std::shared_ptr<FileMapping> FileMapping::open(const std::filesystem::path& path) {
  // Not to wait for a writer, should the name be that of a pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return nullptr;
  struct stat status {};
  void* data = MAP_FAILED;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    data = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
  ::close(descriptor);
  if (data == MAP_FAILED) return nullptr;
  ::madvise(data, static_cast<size_t>(status.st_size), MADV_WILLNEED);
  return std::shared_ptr<FileMapping>(new FileMapping(static_cast<char*>(data), static_cast<size_t>(status.st_size)));
}

FileMapping::~FileMapping() { ::munmap(data_, size_); }

}  // namespace priornet
