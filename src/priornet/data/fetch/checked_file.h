#pragma once

#include <priornet/core/atomic_file.h>
#include <priornet/data/catalogue/entry.h>
#include <priornet/data/files/checksum.h>

#include <optional>

namespace priornet {

/// A file below the data root that appears when its bytes are the published ones, and else not at all.
class CheckedFile {
 public:
  /// Makes the folders it lies in. A file of which no checksum is known is held to its size, if known.
  CheckedFile(KnownFile file, const std::filesystem::path& root);

  void write(std::string_view bytes);

  /// DataError if size or checksum differ: "PATH: cannot be made from SOURCE, what came has ...".
  void commit(const std::string& source);

 private:
  KnownFile known_;
  std::filesystem::path path_;
  std::optional<AtomicFile> file_;
  std::optional<Checksum> checksum_;
  int64_t size_ = 0;
};

}  // namespace priornet
