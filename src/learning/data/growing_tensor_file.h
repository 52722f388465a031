#pragma once

#include <priornet/learning/tensor_file.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "learning/base/file_io.h"

namespace priornet {

struct NamedShape {
  std::string name;
  std::vector<int64_t> shape;
};

/// A tensor file whose first tensor, uint8, comes in pieces, because it does not fit in memory. It has a temporary name
/// in the file's folder until finish(), and is removed without it; tensors that were mapped stay valid. DataError if it
/// cannot be written.
class GrowingTensorFile {
 public:
  explicit GrowingTensorFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Whether there is a file yet: the first append() makes it.
  bool has_begun() const { return file_ != nullptr; }

  /// Appends to the tensor; contiguous.
  void append(const torch::Tensor& values);

  /// Everything that was appended, mapped from the file; read-only.
  torch::Tensor values(const std::vector<int64_t>& shape) const;

  /// The same, if the caller appends it again in another form: the next append() begins a new file.
  torch::Tensor take(const std::vector<int64_t>& shape);

  /// Writes the other tensors, contiguous and on the CPU, and the metadata, then gives the file its name. DataError
  /// also if names and metadata take a megabyte or more.
  void finish(const NamedShape& first, const std::vector<NamedTensor>& others,
              const std::map<std::string, std::string>& metadata);

 private:
  std::filesystem::path path_;
  std::unique_ptr<AtomicFile> file_;
  ContentHash hash_;
  size_t size_ = 0;
};

}  // namespace priornet
