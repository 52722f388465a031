#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "learning/data/byte_stream.h"

// The rows of a text table one after the other, in bounded memory, before their meaning is known.

namespace priornet {

/// Whether 3,14 is a number in a table with this separator: if a comma separates values, it is not part of a number.
constexpr bool has_decimal_commas(char separator) { return separator != ','; }

/// Reads rows of values with commas, semicolons, tabs or bars between them, whichever the first lines have in equal
/// numbers. A value in double quotes may hold separators and line breaks, and a doubled quote for one; spaces around a
/// value are not part of it. Also accepts CRLF and a byte-order mark; blank lines are skipped, but "" is a row.
/// DataError, which begins with the stream's name and its line (from 1), for a text without rows, UTF-16, a quote that
/// does not end, or a row above 64 MiB.
class DelimitedRows {
 public:
  /// The stream must outlive this object.
  explicit DelimitedRows(ByteStream& bytes);
  DelimitedRows(const DelimitedRows&) = delete;
  DelimitedRows& operator=(const DelimitedRows&) = delete;

  /// Goes to the next row; false at the end.
  bool next();

  /// The values of the row that next() went to, without their quotes; the next row overwrites them.
  const std::vector<std::string_view>& values() const { return values_; }

  /// The values as names of columns, which tables are matched by: printable(), so that a name is one line.
  std::vector<std::string> names() const;

  /// DataError unless this row has this many values, as line 1 has.
  void check_length(size_t values_of_first) const;

  /// "NAME: line 3, column 2" of this row; columns count from 1.
  std::string place(size_t column) const;

  char separator() const { return separator_; }
  const std::string& name() const { return bytes_.name(); }

 private:
  void find_separator();
  void fill();
  bool parse_row();
  bool parse_value(size_t& at);
  bool parse_quoted(size_t& at);

  ByteStream& bytes_;
  std::string buffer_;
  size_t begin_ = 0;  ///< of the part of the buffer that was not handed over
  bool at_end_ = false;
  char separator_ = ',';
  int64_t line_ = 0;       ///< of the row's first line
  int64_t next_line_ = 1;  ///< of the row after it
  int64_t breaks_ = 0;     ///< within the row
  bool quoted_ = false;    ///< whether a value of the row stood in quotes
  std::vector<std::string_view> values_;
  std::deque<std::string> unquoted_;  ///< values that held doubled quotes
};

}  // namespace priornet
