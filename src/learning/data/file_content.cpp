#include "learning/data/file_content.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace priornet {
namespace {

constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;  // odd, so that no step loses anything, and of well mixed bits

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kFactor;
  return hash ^ hash >> 32;  // a product only carries upwards
}

}  // namespace

uint64_t content_hash(std::string_view bytes) {
  // Several chains side by side: a multiplication takes longer than the next can wait.
  constexpr size_t kChains = 8;
  constexpr size_t kBlock = kChains * sizeof(uint64_t);
  std::array<uint64_t, kChains> chains{};
  for (size_t c = 0; c < kChains; ++c) chains[c] = 0xCBF29CE484222325 + c;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= kBlock; at += kBlock, left -= kBlock) {
    std::array<uint64_t, kChains> words;
    std::memcpy(words.data(), at, kBlock);
    for (size_t c = 0; c < kChains; ++c) chains[c] = mixed(chains[c], words[c]);
  }
  uint64_t hash = mixed(0, bytes.size());
  for (const uint64_t chain : chains) hash = mixed(hash, chain);
  for (; left > 0; ++at, --left) hash = mixed(hash, static_cast<unsigned char>(*at));
  return hash;
}

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
