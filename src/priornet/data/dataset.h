#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

namespace priornet {

/// A data set in memory.
struct Dataset {
  std::string name;                        ///< as its user knows it: "mnist:test", or a path
  torch::Tensor inputs;                    ///< images, uint8 [N, C, H, W], or rows of numbers, float32 [N, D]
  torch::Tensor labels;                    ///< int64 [N], in [0, number of class_names); undefined if it has none
  std::vector<std::string> class_names;    ///< one a class, empty without labels
  std::vector<std::string> feature_names;  ///< of rows of numbers, one a column or none

  int64_t size() const { return inputs.size(0); }
  bool has_images() const { return inputs.dim() == 4; }
  bool has_labels() const { return labels.defined(); }
  int64_t num_classes() const { return static_cast<int64_t>(class_names.size()); }
};

/// The rows of `indices`, int64 [M], in their order.
Dataset select(const Dataset& set, const torch::Tensor& indices);

/// The rows first, first + 1, ..., first + count - 1, sharing memory with the set.
Dataset slice(const Dataset& set, int64_t first, int64_t count);

/// How many rows each class has, int64 [num_classes].
torch::Tensor class_counts(const Dataset& set);

/// DataError, opened by the set's name, unless the tensors are as Dataset says: shapes, dtypes, labels in range.
void check_dataset(const Dataset& set);

}  // namespace priornet
