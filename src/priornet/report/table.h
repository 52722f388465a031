#pragma once

#include <string>
#include <vector>

// A small table that renders itself for people (text, Markdown) and for machines (CSV, JSON).

namespace priornet {

/// What people read and, where it is a number, what machines read.
class Cell {
 public:
  Cell(std::string text) : text_(std::move(text)) {}  // NOLINT: a string is a cell
  Cell(const char* text) : text_(text) {}             // NOLINT
  static Cell number(double value, int decimals);
  /// A number shown as `text`.
  static Cell number(double value, std::string text);

  const std::string& text() const { return text_; }
  bool is_number() const { return is_number_; }
  double value() const { return value_; }

 private:
  std::string text_;
  bool is_number_ = false;
  double value_ = 0.0;
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;

  /// Throws ArgumentError unless there is a cell a column.
  void add(std::vector<Cell> row);
};

/// Which columns hold numbers: they stand to the right.
std::vector<bool> numeric_columns(const Table& table);

/// Aligned columns, numbers to the right, a rule under the header.
std::string to_text(const Table& table);
std::string to_markdown(const Table& table);
/// RFC 4180, with full precision; neither title nor notes.
std::string to_csv(const Table& table);
/// {"title", "columns", "rows": one object a row, "notes"}; a number that is not finite is null.
std::string to_json(const Table& table);

}  // namespace priornet
