#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace priornet {

/// A file that appears whole or not at all: written under a temporary name in the same folder, renamed by commit().
/// Without commit() the destructor removes the temporary and an older file of that name stays as it was.
/// A symbolic link is followed; the permissions of an older file are kept.
/// Whatever fails throws DataError: "PATH: cannot be written: REASON".
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Unbuffered: hand over large pieces.
  void write(std::string_view bytes);
  void write(const void* bytes, size_t size) { write({static_cast<const char*>(bytes), size}); }

  /// Puts the file in its place, on disk. The last call on the object.
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::filesystem::path target_;  ///< path_ with links followed
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

}  // namespace priornet
