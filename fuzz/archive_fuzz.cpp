#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include "learning/data/archive.h"

#include <array>

using namespace priornet;

// As a file, where a .zip is read by its directory, and as a stream; every other entry is read, the rest is skipped.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  bool read = false;
  const PathFilter all = [](const std::string&) { return true; };
  const FileVisitor visitor = [&](const std::string&, ByteStream& bytes) {
    read = !read;
    std::array<char, 4096> piece;
    while (read && bytes.read(piece.data(), piece.size()) == piece.size()) {
    }
  };
  const ArchiveLimits limits{1000, int64_t{1} << 24};
  const auto path = folder.file("archive", text_of(data, size));
  taken_or_refused([&] { visit_archive(path, all, visitor, limits); });
  return taken_or_refused([&] {
    MemoryStream stream("archive", text_of(data, size));
    visit_archive(stream, all, visitor, limits);
  });
}
