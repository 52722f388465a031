#include <priornet/report/table.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

// Code points, which for the Latin and Greek letters used here are columns of a terminal.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width, bool right) {
  return right ? fmt::format("{:>{}}", text, width) : fmt::format("{:<{}}", text, width);
}

std::vector<size_t> widths_of(const Table& table) {
  std::vector<size_t> widths;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    size_t width = width_of(table.columns[c]);
    for (const auto& row : table.rows) width = std::max(width, width_of(row[c].text()));
    widths.push_back(width);
  }
  return widths;
}

std::string markdown_cell(const std::string& text) {
  std::string result;
  for (const char character : text) {
    if (character == '|' || character == '\\') result += '\\';
    result += character == '\n' ? ' ' : character;
  }
  return result;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"') result += '"';
    result += character;
  }
  return result + '"';
}

}  // namespace

Cell Cell::number(double value, int decimals) { return number(value, fmt::format("{:.{}f}", value, decimals)); }

Cell Cell::number(double value, std::string text) {
  Cell cell(std::move(text));
  cell.is_number_ = true;
  cell.value_ = value;
  return cell;
}

Cell Cell::number(double value, std::string text, const CellContext& context) {
  auto cell = number(value, std::move(text));
  cell.context_ = context;
  return cell;
}

void Table::add(std::vector<Cell> row) {
  if (row.size() != columns.size())
    throw ArgumentError(fmt::format("Table::add: row should be of {} cells, found {}", columns.size(), row.size()));
  rows.push_back(std::move(row));
}

std::vector<bool> numeric_columns(const Table& table) {
  std::vector<bool> numeric(table.columns.size(), false);
  for (size_t c = 0; c < numeric.size(); ++c)
    numeric[c] = std::any_of(table.rows.begin(), table.rows.end(), [c](const auto& row) { return row[c].is_number(); });
  return numeric;
}

std::string to_text(const Table& table) {
  const auto widths = widths_of(table);
  const auto right = numeric_columns(table);
  std::string result = table.title.empty() ? "" : table.title + "\n\n";
  const auto line = [&](const auto& text_of_column) {
    std::string text;
    for (size_t c = 0; c < widths.size(); ++c) {
      if (c > 0) text += "  ";
      text += padded(text_of_column(c), widths[c], right[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    result += text + "\n";
  };
  line([&](size_t c) { return table.columns[c]; });
  std::string rule;
  for (size_t c = 0; c < widths.size(); ++c) {
    if (c > 0) rule += "  ";
    for (size_t i = 0; i < widths[c]; ++i) rule += "─";
  }
  result += rule + "\n";
  for (const auto& row : table.rows) line([&](size_t c) { return row[c].text(); });
  if (!table.notes.empty()) result += "\n";
  for (const auto& note : table.notes) result += note + "\n";
  return result;
}

std::string to_markdown(const Table& table) {
  const auto right = numeric_columns(table);
  std::string result = table.title.empty() ? "" : "**" + table.title + "**\n\n";
  result += '|';
  for (const auto& column : table.columns) result += fmt::format(" {} |", markdown_cell(column));
  result += "\n|";
  for (const bool to_the_right : right) result += to_the_right ? "---:|" : "---|";
  for (const auto& row : table.rows) {
    result += "\n|";
    for (const auto& cell : row) result += fmt::format(" {} |", markdown_cell(cell.text()));
  }
  result += '\n';
  for (const auto& note : table.notes) result += "\n" + note + "\n";
  return result;
}

std::string to_csv(const Table& table) {
  std::string result;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) result += ',';
    result += csv_cell(table.columns[c]);
  }
  result += '\n';
  for (const auto& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (c > 0) result += ',';
      result += row[c].is_number() ? fmt::format("{}", row[c].value()) : csv_cell(row[c].text());
    }
    result += '\n';
  }
  return result;
}

std::string to_json(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (size_t c = 0; c < row.size(); ++c) {
      auto& value = object[table.columns[c]];
      if (!row[c].is_number())
        value = row[c].text();
      else if (std::isfinite(row[c].value()))
        value = row[c].value();
    }
    rows.push_back(std::move(object));
  }
  return nlohmann::ordered_json{
      {"title", table.title}, {"columns", table.columns}, {"rows", rows}, {"notes", table.notes}}
      .dump(2);
}

}  // namespace priornet
