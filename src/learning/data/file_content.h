#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace priornet {

/// 64 bits that change with any byte: to see damage, not to keep out an enemy. As fast as memory is read, so that a
/// prepared copy can be checked whenever it is mapped.
uint64_t content_hash(std::string_view bytes);

/// A whole file in memory, page by page as it is touched. What is written there stays there.
class FileMapping {
 public:
  /// Nothing where the file cannot be mapped: it is not there, empty, or no regular file.
  static std::shared_ptr<FileMapping> open(const std::filesystem::path& path);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  char* data() { return data_; }
  std::string_view bytes() const { return {data_, size_}; }

 private:
  FileMapping(char* data, size_t size) : data_(data), size_(size) {}

  char* data_;
  size_t size_;
};

}  // namespace priornet
