#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// The number rounded to this many digits, so that its text is short.
inline double short_number(double value, int digits) {
  const auto text = fmt::format("{:.{}g}", value, digits);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

inline std::vector<double> short_numbers(std::vector<double> values, int digits) {
  for (auto& value : values) value = short_number(value, digits);
  return values;
}

// A small table that renders itself for people (text, Markdown, LaTeX) and for machines (CSV, JSON).

/// What a number is compared with.
struct CellContext {
  double low = 0.0;  ///< ends of its interval
  double high = 0.0;
  std::optional<double> published;
  bool lower_is_better = false;
  bool counted_apart = false;  ///< the published number is most likely that of something else
};

/// The text that people read and, if it is a number, the value that machines read.
class Cell {
 public:
  Cell(std::string text) : text_(std::move(text)) {}  // NOLINT: a string is a cell
  Cell(const char* text) : text_(text) {}             // NOLINT
  static Cell number(double value, int decimals);
  /// A number shown as `text`.
  static Cell number(double value, std::string text);
  static Cell number(double value, std::string text, const CellContext& context);

  const std::string& text() const { return text_; }
  bool is_number() const { return is_number_; }
  double value() const { return value_; }
  const std::optional<CellContext>& context() const { return context_; }

 private:
  std::string text_;
  bool is_number_ = false;
  double value_ = 0.0;
  std::optional<CellContext> context_;
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;

  /// Throws ArgumentError unless there is one cell per column.
  void add(std::vector<Cell> row);
};

/// Which columns hold numbers: they stand to the right.
std::vector<bool> numeric_columns(const Table& table);

/// Aligned columns, numbers to the right, a rule under the header.
std::string to_text(const Table& table);
std::string to_markdown(const Table& table);
/// Text that Markdown shows as it is, on one line; `code` stays code.
std::string markdown_text(std::string_view text);
/// A table environment in the manner of the package booktabs, the title as its caption, notes below.
std::string to_latex(const Table& table);
/// RFC 4180, one line per row (csv.h), with full precision; neither title nor notes.
std::string to_csv(const Table& table);
/// {"title", "columns", "rows": one object per row, "notes"}; a number that is not finite is null.
std::string to_json(const Table& table);

// Tables inside results.json, complete: texts, numbers, and what the numbers are compared with.

/// {"title", "columns", "rows", "notes"}; rows are lists of cells; a cell is its text, or an object {"text", "value"}
/// with "low", "high", "published", "lower_is_better" and "counted_apart" if it has them. A value that is not finite is
/// null.
std::string store_table(const Table& table);

/// Reads the table back. DataError, which begins with `where`, for JSON that is not such a table.
Table restore_table(std::string_view json, const std::string& where);

/// Every number of the tables, one row each: which table, row (its texts) and column; value, ends of the interval,
/// published. So tables of any shape become one CSV.
Table long_form(const std::vector<Table>& tables);

}  // namespace priornet
