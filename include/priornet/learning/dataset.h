#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace priornet {

struct TableEncoding;

/// A data set in memory, or in a file that is mapped.
struct Dataset {
  std::string name;                        ///< as its user knows it: "mnist:test", or a path
  torch::Tensor inputs;                    ///< images, uint8 [N, C, H, W], or rows of numbers, float32 [N, D]
  torch::Tensor labels;                    ///< int64 [N], in [0, number of class_names); undefined if it has none
  std::vector<std::string> class_names;    ///< one per class, empty without labels
  std::vector<std::string> feature_names;  ///< of rows of numbers, one per column or none
  std::shared_ptr<const TableEncoding> encoding = {};  ///< of a table: how its columns became numbers
  /// int64 [N] on the CPU: row i is inputs[rows[i]]. Only for parts of an image set that does not fit in memory, as
  /// view_of() gives them to training; undefined for all other sets, whose row i is inputs[i].
  torch::Tensor rows = {};
  /// How many equal parts the rows consist of, one after the other (the modifier repeat=N). Rows that training keeps
  /// back are kept back in all of them.
  int64_t copies = 1;

  int64_t size() const { return rows.defined() ? rows.size(0) : inputs.size(0); }
  bool has_images() const { return inputs.dim() == 4; }
  bool has_labels() const { return labels.defined(); }
  int64_t num_classes() const { return static_cast<int64_t>(class_names.size()); }
};

/// The rows of `indices`, int64 [M], in their order.
Dataset select(const Dataset& set, const torch::Tensor& indices);

/// The same, but images on the CPU that do not fit in memory are not copied: the result has Dataset::rows.
Dataset view_of(const Dataset& set, const torch::Tensor& indices);

/// Inputs of the rows first, ..., first + count - 1: sharing memory with the set, unless it has Dataset::rows.
torch::Tensor inputs_at(const Dataset& set, int64_t first, int64_t count);

/// The rows first, first + 1, ..., first + count - 1, sharing memory with the set.
Dataset slice(const Dataset& set, int64_t first, int64_t count);

/// How many rows each class has, int64 [num_classes].
torch::Tensor class_counts(const Dataset& set);

/// DataError, which begins with the set's name, unless the tensors are as Dataset says: shapes, dtypes, labels in
/// range.
void check_dataset(const Dataset& set);

/// The rows of the sets one after the other. Classes are known by their names: those of the first set, then those that
/// only others have. DataError, which begins with the name of the set that differs, where the inputs have other shapes
/// or dtypes, or where some sets have labels and others have none. At least one set; one comes back as it is.
Dataset concatenate(const std::vector<Dataset>& sets);

// These functions match the columns and classes of two sets by name.

/// The columns of these names, in this order; the set may hold them in another order and may hold others. Images, a set
/// without column names, and an empty list of names give the set as it is. DataError, which begins with the set's name,
/// if a column is missing.
Dataset with_features(const Dataset& set, const std::vector<std::string>& names);

/// The set's labels, int64 [N] on the CPU, renumbered to these classes by name; as they are if the set or `names` has
/// no names. DataError, which begins with the set's name, for a row of a class that `owner` does not have.
torch::Tensor labels_among(const Dataset& set, const std::vector<std::string>& names, const std::string& owner);

/// Over all pixels of one channel, or all rows of one column.
struct ChannelStatistics {
  double mean = 0;
  double standard_deviation = 0;  ///< of the population
  double minimum = 0;
  double maximum = 0;
};

/// One per channel of images, in grey levels from 0 to 255, exact; or one per column of numbers.
/// A set without rows throws DataError.
std::vector<ChannelStatistics> channel_statistics(const Dataset& set);

/// `count` rows of the set, drawn by seed without replacement, in the order they have in the set. DataError if it has
/// fewer.
Dataset random_subset(const Dataset& set, int64_t count, uint64_t seed);

}  // namespace priornet
