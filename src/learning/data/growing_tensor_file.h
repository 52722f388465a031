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

/// A tensor file whose first tensor, uint8, comes piece by piece: for one that memory has no room for. It lies under a
/// temporary name in the file's folder until finish(), and is gone without it; tensors that were mapped stay. What
/// cannot be written is a DataError.
class GrowingTensorFile {
 public:
  explicit GrowingTensorFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Whether there is a file: the first append() makes it.
  bool has_begun() const { return file_ != nullptr; }

  /// More of the tensor, contiguous.
  void append(const torch::Tensor& values);

  /// All that was appended, mapped from the file; it may not be written to.
  torch::Tensor values(const std::vector<int64_t>& shape) const;

  /// The same, to be appended again in another form: the next append() begins another file.
  torch::Tensor take(const std::vector<int64_t>& shape);

  /// Gives the file its name, once the other tensors, contiguous and on the CPU, and the metadata are in it. DataError
  /// also where names and metadata take a megabyte or more.
  void finish(const NamedShape& first, const std::vector<NamedTensor>& others,
              const std::map<std::string, std::string>& metadata);

 private:
  std::filesystem::path path_;
  std::unique_ptr<AtomicFile> file_;
  ContentHash hash_;
  size_t size_ = 0;
};

}  // namespace priornet
