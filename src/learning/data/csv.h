#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// The lines and fields of a CSV text, before their meaning is known.

namespace priornet {

/// Removes the field up to the next comma outside quotes from the front of the line. `more` says whether a comma
/// followed.
std::string_view take_field(std::string_view& line, bool& more);

enum class ParsedNumber { kNumber, kTooLarge, kOther };

/// The number in a field, with or without quotes and spaces around it.
ParsedNumber parse_csv_number(std::string_view field, double& value);

/// What a number that std::from_chars finds out of range is nearest to: an infinity or a zero, in any locale.
double nearest_to_out_of_range(std::string_view number);

/// Whether all of them are numbers: then they are hardly the names of columns.
bool are_numbers(const std::vector<std::string>& fields);

/// Whether all of `wanted` are among these names: then they are names, even if they are all numbers (0, 1, 2).
bool names_all(const std::vector<std::string>& names, const std::vector<std::string>& wanted);

/// A field as messages show it: in quotes, cut off where it is long; "an empty value".
std::string shown_field(std::string_view field);

/// The lines of a text one by one, counted from 1. Also accepts CRLF, a byte-order mark, blank lines at the end.
/// DataError, which begins with `name`, for a text without lines or a blank line before others.
class CsvLines {
 public:
  CsvLines(std::string name, std::string text);
  CsvLines(const CsvLines&) = delete;
  CsvLines& operator=(const CsvLines&) = delete;

  bool at_end() const { return left_.empty(); }

  /// The next line, or nothing at the end.
  std::string_view next();

  /// Throws DataError if the line that next() gave has another number of values than line 1.
  void check_length(std::string_view line, int64_t values_of_first) const;

  /// "NAME: line 3, column 2" for the line that next() gave; columns count from 1.
  std::string place(int64_t column) const;

  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::string text_;
  std::string_view left_;
  int64_t line_ = 0;
};

/// Numbers in rows and named columns.
struct NumberTable {
  std::vector<std::string> names;  ///< one per column; empty if the file has no header
  torch::Tensor values;            ///< float64 [rows, columns]
};

/// A table of numbers separated by commas. A first line that is not all numbers is the header. Also accepts quotes
/// around a name or a number, spaces around a value, CRLF, a byte-order mark, blank lines at the end, nan and inf.
/// DataError that names the file and the line (from 1) for an empty file, a row longer or shorter than the first line,
/// a blank line between others, a value that is not a number or is beyond float64. With `only`, the name of a column,
/// such a value in another column is NaN. With `texts`, named columns whose first value is not a number are left out,
/// and `texts` gets their names.
NumberTable read_csv(const std::filesystem::path& path, const std::string& only = {},
                     std::vector<std::string>* texts = nullptr);

/// A field of a CSV file: the text as it is, in quotes if it holds a comma or a quote, and with line ends and control
/// characters made visible (printable()), so that one row is one line and the text cannot control a terminal.
std::string csv_field(std::string_view text);

}  // namespace priornet
