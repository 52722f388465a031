#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/report/stored_table.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using TableJson = nlohmann::ordered_json;

TableJson number_json(double value) { return std::isfinite(value) ? TableJson(value) : TableJson(nullptr); }

double number_of(const TableJson& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

TableJson cell_json(const Cell& cell) {
  if (!cell.is_number()) return cell.text();
  TableJson json = {{"text", cell.text()}, {"value", number_json(cell.value())}};
  if (const auto& context = cell.context()) {
    json["low"] = number_json(context->low);
    json["high"] = number_json(context->high);
    if (context->published) json["published"] = number_json(*context->published);
    if (context->lower_is_better) json["lower_is_better"] = true;
  }
  return json;
}

Cell cell_of(const TableJson& json) {
  if (json.is_string()) return json.get<std::string>();
  const auto value = number_of(json.at("value"));
  const auto text = json.at("text").get<std::string>();
  if (!json.contains("low")) return Cell::number(value, text);
  CellContext context{number_of(json.at("low")), number_of(json.at("high")), std::nullopt,
                      json.value("lower_is_better", false)};
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
  return json.dump();
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
