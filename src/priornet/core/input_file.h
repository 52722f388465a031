#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace priornet {

/// A regular file open for reading from start to end.
/// Whatever fails throws DataError: "PATH: cannot be read: REASON".
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int64_t size() const { return size_; }

  /// Reads up to `size` bytes, fewer only at the end of the file, and returns how many.
  size_t read(void* to, size_t size);

  /// What is left of the file.
  std::string read_rest();

 private:
  size_t read_at(int64_t offset, void* to, size_t size) const;
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  int64_t size_ = 0;
  int64_t position_ = 0;
  int descriptor_ = -1;
};

}  // namespace priornet
