#pragma once

#include <priornet/uncertainty/named_tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

// Named tensors and text in one file, in the safetensors format that other frameworks read too: the length of a JSON
// header, the header (dtype, shape and place of each tensor; text under "__metadata__"), the bytes. Nothing in it can
// be executed. Files we write also hold a hash of each tensor, so that damage is seen.

namespace priornet {

struct TensorFile {
  std::vector<NamedTensor> tensors;  ///< sorted by name
  std::map<std::string, std::string> metadata;

  /// The tensor of that name; DataError that names the file if there is none.
  const torch::Tensor& at(const std::string& name) const;

  std::string path;
};

/// Maps the file: the tensors, on the CPU, share its memory page by page as they are touched. They may be written to;
/// the file never changes.
/// DataError that names the file and what is wrong with it: not such a file, truncated, a header that promises more
/// than the file holds, an unknown dtype, bytes that do not match their hash.
TensorFile read_tensor_file(const std::filesystem::path& path);

/// Writes tensors of any device (bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64; distinct
/// names), whole or not at all.
void write_tensor_file(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace priornet
