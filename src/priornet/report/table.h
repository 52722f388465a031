#pragma once

#include <optional>
#include <string>
#include <vector>

// A small table that renders itself for people (text, Markdown, LaTeX) and for machines (CSV, JSON).

namespace priornet {

/// What a number is read beside.
struct CellContext {
  double low = 0.0;  ///< ends of its interval
  double high = 0.0;
  std::optional<double> published;
  bool lower_is_better = false;
};

/// What people read and, where it is a number, what machines read.
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

  /// Throws ArgumentError unless there is a cell a column.
  void add(std::vector<Cell> row);
};

/// Which columns hold numbers: they stand to the right.
std::vector<bool> numeric_columns(const Table& table);

/// Aligned columns, numbers to the right, a rule under the header.
std::string to_text(const Table& table);
std::string to_markdown(const Table& table);
/// A table environment in the manner of the package booktabs, the title as its caption, notes below.
std::string to_latex(const Table& table);
/// RFC 4180, with full precision; neither title nor notes.
std::string to_csv(const Table& table);
/// {"title", "columns", "rows": one object a row, "notes"}; a number that is not finite is null.
std::string to_json(const Table& table);

}  // namespace priornet
