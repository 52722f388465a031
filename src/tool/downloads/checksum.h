#pragma once

#include <priornet/learning/progress.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

// SHA-256 and MD5 in lower-case hexadecimal, by OpenSSL. In a build without it everything here throws DataError.

namespace priornet {

enum class Digest { kSha256, kMd5 };

/// The checksum of bytes that come in pieces.
class Checksum {
 public:
  explicit Checksum(Digest digest);
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void add(std::string_view bytes);

  /// The checksum of everything that was added. No call may follow.
  std::string hexadecimal();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The checksum of a file; progress in bytes, under the name "checking NAME". DataError if the file cannot be read.
std::string checksum_of(Digest digest, const std::filesystem::path& path, Progress& progress);
std::string sha256_of(const std::filesystem::path& path, Progress& progress);
std::string md5_of(const std::filesystem::path& path, Progress& progress);

}  // namespace priornet
