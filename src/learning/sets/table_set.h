#pragma once

#include <priornet/learning/dataset.h>
#include <torch/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "learning/data/byte_stream.h"

namespace priornet {

struct LabelClasses {
  torch::Tensor labels;            ///< int64 [N]: which class each text names
  std::vector<std::string> names;  ///< of the classes
};

/// The classes that texts name: their distinct values in order. Where every text is a finite number they are compared
/// and sorted as numbers, and "1" and "1.0" are one class, "1".
LabelClasses classes_of(const std::vector<std::string>& texts);

struct TableOptions {
  std::string label;  ///< the name of the column that holds the labels; without one the set has no labels
};

/// A CSV file (or .csv.gz) whose first line names the columns, each differently, in UTF-8. The label column may hold
/// text or numbers: its distinct values become the classes, in the order of the numbers where all are finite numbers (1
/// and 1.0 are one class), else in that of the text. The other columns hold finite numbers and become the inputs,
/// float32 [N, D]. DataError that names file, line and column (from 1) where it is not that.
Dataset read_table(const std::filesystem::path& path, const TableOptions& options = {});

/// The same from a stream.
Dataset read_table(ByteStream& bytes, const TableOptions& options = {});

}  // namespace priornet
