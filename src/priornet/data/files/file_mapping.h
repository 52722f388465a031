#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

namespace priornet {

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
