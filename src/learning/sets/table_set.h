#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/table_encoding.h>
#include <torch/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "learning/data/byte_stream.h"

namespace priornet {

struct LabelClasses {
  torch::Tensor labels;            ///< int64 [N]: which class each text names
  std::vector<std::string> names;  ///< of the classes
};

/// The classes that texts name: their distinct values in order. If every text is a number below 2^53, and none a code
/// with leading zeros (007), they are compared and sorted as numbers, and "1" and "1.0" are one class, "1".
LabelClasses classes_of(const std::vector<std::string>& texts);

struct TableOptions {
  std::string label;                          ///< the column that holds the labels; without one the set has no labels
  std::vector<std::string> drop;              ///< columns that are left out
  std::vector<std::string> categorical;       ///< columns whose values are names, though they look like numbers
  std::vector<std::string> numeric;           ///< columns whose values are numbers; anything else in them is missing
  const TableEncoding* encoding = nullptr;    ///< of a model; else one is found from the table
  std::vector<std::string>* notes = nullptr;  ///< is told what was not as expected, in words
};

/// A text table (delimited.h; .gz too) whose first line names the columns, each differently, in UTF-8. The label column
/// may hold text or numbers: its distinct values become the classes, in the order of the numbers if all are finite
/// numbers (1 and 1.0 are one class), else in that of the text; a row without a label is left out. The other columns
/// become the inputs, float32 [N, D], as the encoding says. The file is read two or three times, and memory never holds
/// its whole text. DataError that names file, line and column (from 1) for anything else, and if the file changes
/// meanwhile.
Dataset read_table(const std::filesystem::path& path, const TableOptions& options = {});

/// Opens a table from its beginning, each time it is called.
using OpenTable = std::function<std::unique_ptr<ByteStream>()>;

/// The same for a table from anywhere.
Dataset read_table(const OpenTable& open, const TableOptions& options = {});

/// The same for a text in memory.
Dataset read_table(const std::string& name, std::string_view text, const TableOptions& options = {});

}  // namespace priornet
