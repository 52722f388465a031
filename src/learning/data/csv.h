#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// The lines and fields of a CSV text, before anybody knows what they mean.

namespace priornet {

/// Takes the field up to the next comma outside quotes off the front of the line. `more` says whether a comma followed.
std::string_view take_field(std::string_view& line, bool& more);

/// What a field says: without spaces around it, and without its quotes.
std::string csv_text(std::string_view field);

enum class ParsedNumber { kNumber, kTooLarge, kOther };

/// The number a field says, quotes and spaces around it or not.
ParsedNumber parse_csv_number(std::string_view field, double& value);

/// The fields of a first line, which may be the names of the columns or, all of them, numbers.
struct FirstLine {
  std::vector<std::string> fields;
  bool is_numbers = true;
};
FirstLine parse_first_line(std::string_view line);

/// A field as messages show it: in quotes, cut off where it is long; "an empty value".
std::string shown_field(std::string_view field);

/// The lines of a text one by one, counted from 1. Taken as well: CRLF, a byte-order mark, blank lines at the end.
/// DataError that opens with `name`: a text without lines, a blank line before others.
class CsvLines {
 public:
  CsvLines(std::string name, std::string text);
  CsvLines(const CsvLines&) = delete;
  CsvLines& operator=(const CsvLines&) = delete;

  bool at_end() const { return left_.empty(); }

  /// The next line, if not at the end.
  std::string_view next();

  /// Throws DataError if this, the line that next() gave, has another number of values than line 1 has.
  void check_length(std::string_view line, int64_t values_of_first) const;

  /// "NAME: line 3, column 2" of the line that next() gave; columns count from 1.
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

/// A table of numbers separated by commas. A first line that is not all numbers is the header. Taken as well: quotes
/// around a name or a number, spaces around a value, CRLF, a byte-order mark, blank lines at the end, nan and inf.
/// DataError that names the file, and the line (from 1): an empty file, a row longer or shorter than the first line,
/// a blank line between others, a value that is not a number or is beyond float64. With `only`, the name of a column,
/// such a value is NaN in all others.
NumberTable read_csv(const std::filesystem::path& path, const std::string& only = {});

/// A field of a CSV file: the text as it is, in quotes where a comma or a quote demands it, and with line ends and
/// control characters made visible (printable()): one row is one line, and a terminal that shows it obeys nothing in
/// it.
std::string csv_field(std::string_view text);

}  // namespace priornet
