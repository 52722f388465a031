#include "tool/report/table.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "learning/data/csv.h"

namespace priornet {
namespace {

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

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string result;
  // A backquote without a partner is text.
  bool in_code = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    if (character == '`') {
      const bool ends = in_code, begins = !in_code && text.find('`', i + 1) != std::string_view::npos;
      if (!ends && !begins) result += '\\';
      in_code = begins;
    }
    if (character == '|' || (!in_code && std::string_view("\\<&*").find(character) != std::string_view::npos))
      result += '\\';
    result += character == '\n' ? ' ' : character;
  }
  return result;
}

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
  std::string result = table.title.empty() ? "" : "**" + markdown_text(table.title) + "**\n\n";
  result += '|';
  for (const auto& column : table.columns) result += fmt::format(" {} |", markdown_text(column));
  result += "\n|";
  for (const bool to_the_right : right) result += to_the_right ? "---:|" : "---|";
  for (const auto& row : table.rows) {
    result += "\n|";
    for (const auto& cell : row) result += fmt::format(" {} |", markdown_text(cell.text()));
  }
  result += '\n';
  for (const auto& note : table.notes) result += "\n" + markdown_text(note) + "\n";
  return result;
}

std::string to_csv(const Table& table) {
  std::string result;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) result += ',';
    result += csv_field(table.columns[c]);
  }
  result += '\n';
  for (const auto& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (c > 0) result += ',';
      result += row[c].is_number() ? fmt::format("{}", row[c].value()) : csv_field(row[c].text());
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
  return json_text(
      nlohmann::ordered_json{
          {"title", table.title}, {"columns", table.columns}, {"rows", rows}, {"notes", table.notes}},
      2);
}

namespace {

// Latin letters with accents pass as they are; these characters do not, in a document without further packages.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kLatex = {{{"\\", "\\textbackslash{}"},
                                                                                   {"&", "\\&"},
                                                                                   {"%", "\\%"},
                                                                                   {"$", "\\$"},
                                                                                   {"#", "\\#"},
                                                                                   {"_", "\\_"},
                                                                                   {"{", "\\{"},
                                                                                   {"}", "\\}"},
                                                                                   {"~", "\\textasciitilde{}"},
                                                                                   {"^", "\\textasciicircum{}"},
                                                                                   {"<", "$<$"},
                                                                                   {">", "$>$"},
                                                                                   {"|", "\\textbar{}"},
                                                                                   {"\n", " "},
                                                                                   {"±", "$\\pm$"},
                                                                                   {"σ", "$\\sigma$"},
                                                                                   {"α", "$\\alpha$"},
                                                                                   {"−", "$-$"},
                                                                                   {"–", "--"},
                                                                                   {"₀", "$_0$"}}};

std::string latex(std::string_view text) {
  std::string result;
  bool in_code = false;
  while (!text.empty()) {
    size_t taken = 1;
    std::string_view written = text.substr(0, 1);
    if (text.front() == '`') {  // `code`
      written = in_code ? "}" : "\\texttt{";
      in_code = !in_code;
    }
    for (const auto& [plain, command] : kLatex) {
      if (!text.starts_with(plain)) continue;
      taken = plain.size();
      written = command;
      break;
    }
    result += written;
    text.remove_prefix(taken);
  }
  return in_code ? result + "}" : result;
}

}  // namespace

std::string to_latex(const Table& table) {
  std::string result = "\\begin{table}\n\\centering\n";
  if (!table.title.empty()) result += fmt::format("\\caption{{{}}}\n", latex(table.title));
  result += "\\begin{tabular}{";
  for (const bool to_the_right : numeric_columns(table)) result += to_the_right ? 'r' : 'l';
  result += "}\n\\toprule\n";
  const auto line = [&](size_t count, const auto& text_of_column) {
    for (size_t c = 0; c < count; ++c) {
      if (c > 0) result += " & ";
      result += latex(text_of_column(c));
    }
    result += " \\\\\n";
  };
  line(table.columns.size(), [&](size_t c) { return table.columns[c]; });
  result += "\\midrule\n";
  for (const auto& row : table.rows) line(row.size(), [&](size_t c) { return row[c].text(); });
  result += "\\bottomrule\n\\end{tabular}\n";
  for (const auto& note : table.notes) result += fmt::format("\\par\\smallskip\\footnotesize {}\n", latex(note));
  return result + "\\end{table}\n";
}

namespace {

using TableJson = nlohmann::ordered_json;

TableJson cell_json(const Cell& cell) {
  if (!cell.is_number()) return cell.text();
  TableJson json = {{"text", cell.text()}, {"value", number_json(cell.value())}};
  if (const auto& context = cell.context()) {
    json["low"] = number_json(context->low);
    json["high"] = number_json(context->high);
    if (context->published) json["published"] = number_json(*context->published);
    if (context->lower_is_better) json["lower_is_better"] = true;
    if (context->counted_apart) json["counted_apart"] = true;
  }
  return json;
}

Cell cell_of(const TableJson& json) {
  if (json.is_string()) return json.get<std::string>();
  const auto value = number_of(json.at("value"));
  const auto text = json.at("text").get<std::string>();
  if (!json.contains("low")) return Cell::number(value, text);
  CellContext context{number_of(json.at("low")), number_of(json.at("high")), std::nullopt,
                      json.value("lower_is_better", false), json.value("counted_apart", false)};
  if (json.contains("published")) context.published = number_of(json.at("published"));
  return Cell::number(value, text, context);
}

}  // namespace

std::string store_table(const Table& table) {
  TableJson json = {
      {"title", table.title}, {"columns", table.columns}, {"rows", TableJson::array()}, {"notes", table.notes}};
  for (const auto& row : table.rows) {
    auto cells = TableJson::array();
    for (const auto& cell : row) cells.push_back(cell_json(cell));
    json["rows"].push_back(std::move(cells));
  }
  return json_text(json);
}

Table restore_table(std::string_view json, const std::string& where) {
  try {
    const auto parsed = TableJson::parse(json);
    Table table{parsed.at("title"), parsed.at("columns"), {}, parsed.at("notes")};
    for (const auto& row : parsed.at("rows")) {
      std::vector<Cell> cells;
      for (const auto& cell : row) cells.push_back(cell_of(cell));
      table.add(std::move(cells));
    }
    return table;
  } catch (const TableJson::exception& error) {
    throw DataError(fmt::format("{}: should hold a table: {}", where, error.what()));
  } catch (const ArgumentError& error) {
    throw DataError(fmt::format("{}: should hold a table: {}", where, error.what()));
  }
}

Table long_form(const std::vector<Table>& tables) {
  Table result{"", {"table", "row", "column", "value", "low", "high", "published"}, {}, {}};
  const auto number = [](double value) {
    return std::isfinite(value) ? Cell::number(value, fmt::format("{}", value)) : Cell("");
  };
  for (const auto& table : tables) {
    for (const auto& row : table.rows) {
      std::string name;
      for (const auto& cell : row)
        if (!cell.is_number() && cell.text() != "-") name += fmt::format("{}{}", name.empty() ? "" : ", ", cell.text());
      for (size_t c = 0; c < row.size(); ++c) {
        if (!row[c].is_number()) continue;
        const auto context = row[c].context();
        result.add({table.title, name, table.columns[c], number(row[c].value()),
                    context ? number(context->low) : Cell(""), context ? number(context->high) : Cell(""),
                    context && context->published ? number(*context->published) : Cell("")});
      }
    }
  }
  return result;
}

}  // namespace priornet
