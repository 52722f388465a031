#pragma once

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// Numbers in rows and named columns.
struct NumberTable {
  std::vector<std::string> names;  ///< one a column; empty if the file has no header
  torch::Tensor values;            ///< float64 [rows, columns]
};

/// A table of numbers separated by commas. A first line that is not all numbers is the header. Taken as well: quotes
/// around a name or a number, spaces around a value, CRLF, a byte-order mark, blank lines at the end, nan and inf.
/// DataError that names the file, and the line (from 1): an empty file, a row longer or shorter than the first line,
/// a blank line between others, a value that is not a number or is beyond float64. With `only`, the name of a column,
/// such a value is NaN in all others.
NumberTable read_csv(const std::filesystem::path& path, const std::string& only = {});

/// A field of a CSV file: the text as it is, or in quotes where a comma, a quote or a line break demands it.
std::string csv_field(std::string_view text);

}  // namespace priornet
