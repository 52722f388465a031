#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace priornet {

class FileMapping;

/// A rename is on disk once its folder is. Not every file system can sync a folder: then it reaches the disk a little
/// later.
void sync_folder(const std::filesystem::path& folder);

/// A file that appears whole or not at all: written under a temporary name in the same folder, renamed by commit().
/// Without commit() the destructor removes the temporary and an older file of that name stays as it was.
/// A symbolic link is followed; the permissions of an older file are kept.
/// Every failure throws DataError: "PATH: cannot be written: REASON".
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Unbuffered: hand over large pieces.
  void write(std::string_view bytes);
  void write(const void* bytes, size_t size) { write({static_cast<const char*>(bytes), size}); }

  /// Overwrites bytes that were already written, from this byte on.
  void write_over(size_t offset, std::string_view bytes);

  /// The bytes written so far; they outlive this object.
  std::shared_ptr<FileMapping> mapping() const;

  /// Puts the file in its place, on disk. No call may follow.
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::filesystem::path target_;  ///< path_ with links followed
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// A regular file open for reading from start to end.
/// Every failure throws DataError: "PATH: cannot be read: REASON".
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int64_t size() const { return size_; }

  /// Reads up to `size` bytes, fewer only at the end of the file, and returns how many.
  size_t read(void* to, size_t size);

  /// The rest of the file.
  std::string read_rest();

 private:
  size_t read_at(int64_t offset, void* to, size_t size) const;
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  int64_t size_ = 0;
  int64_t position_ = 0;
  int descriptor_ = -1;
};

/// A 64-bit hash that changes with any byte: it finds damage, but does not stop an attacker. As fast as memory is read,
/// so that a prepared copy can be checked whenever it is mapped.
uint64_t content_hash(std::string_view bytes);

/// The same for bytes that come in pieces.
class ContentHash {
 public:
  ContentHash();
  void add(std::string_view bytes);
  uint64_t value() const;

 private:
  static constexpr size_t kChains = 8;
  static constexpr size_t kBlock = kChains * sizeof(uint64_t);
  void add_block(const char* bytes);

  std::array<uint64_t, kChains> chains_;
  std::array<char, kBlock> rest_;  ///< of the last block, so far
  uint64_t size_ = 0;
};

/// A whole file in memory, read page by page when used. Writes stay in memory; if memory could not hold the whole file,
/// it is read-only.
class FileMapping {
 public:
  /// Nothing if the file cannot be mapped: it does not exist, is empty, or is no regular file.
  static std::shared_ptr<FileMapping> open(const std::filesystem::path& path);
  /// The same for an open file.
  static std::shared_ptr<FileMapping> of(int descriptor);
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
