#pragma once

#include <priornet/data/dataset.h>
#include <priornet/data/files/byte_stream.h>

#include <filesystem>
#include <string>

namespace priornet {

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
