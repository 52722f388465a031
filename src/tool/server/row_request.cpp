#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "learning/base/names.h"
#include "learning/data/column_types.h"
#include "learning/data/decoded_pixels.h"
#include "learning/data/delimited.h"
#include "tool/server/tensor_protocol.h"

namespace priornet::serving {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

// A JSON value as a table would write it.
std::string text_of(const json& value, const std::string& column) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return "";
  if (value.is_number()) return value.dump();
  throw ArgumentError(fmt::format("the value of '{}' should be a number, a text, true, false or null", column));
}

// As predict says it of a table (inputs.cpp).
std::string note_of_absent(const std::string& column) {
  return column + ": this column is not there; its values count as missing";
}

// The row, its columns named as those of a table are.
std::map<std::string, const json*> with_printable_names(const json& row) {
  std::map<std::string, const json*> named;
  for (const auto& [name, value] : row.items()) named.emplace(printable(name), &value);
  return named;
}

// Adds rows to a request, one by one.
class RowCollector {
 public:
  RowCollector(const ModelDescription& model, int64_t most_rows)
      : model_(model),
        most_rows_(most_rows),
        columns_(model.encoding ? model.encoding->column_names() : model.feature_names) {
    request_.several = true;
    if (model.encoding) encoder_.emplace(*model.encoding, columns_);
  }

  RowRequest request() && { return std::move(request_); }

  void add_object(const json& given) {
    if (!given.is_object())
      throw ArgumentError(
          "a row should be an object: {\"column\": value, ...}; values in the model's order are taken one row at a "
          "time: "
          "{\"features\": [value, ...]}");
    if (columns_.empty()) throw ArgumentError("the model has no names of features: give them as an array");
    std::vector<std::string> texts;
    Names notes;
    const auto row = with_printable_names(given);
    for (const auto& column : columns_) {
      const auto found = row.find(column);
      if (found == row.end() && !model_.encoding)
        throw ArgumentError(fmt::format("the feature '{}' is missing", column));
      if (found == row.end()) notes.push_back(note_of_absent(column));
      texts.push_back(found == row.end() ? "" : text_of(*found->second, column));
    }
    for (const auto& [name, value] : row)
      if (!is_known(name)) notes.push_back(fmt::format("{}: is not a column of the model", name.substr(0, 64)));
    if (notes.size() >= columns_.size() &&
        std::all_of(texts.begin(), texts.end(), [](const auto& t) { return t.empty(); }))
      throw ArgumentError(fmt::format("a row has none of the model's columns: {}", fmt::join(columns_, ", ")));
    add(texts, std::move(notes));
  }

  void add_array(const json& values) {
    const auto width = model_.encoding ? columns_.size() : static_cast<size_t>(model_.values_per_row());
    if (values.size() != width)
      throw ArgumentError(fmt::format("features should hold {} {}, found {}", width,
                                      model_.encoding ? "values" : "numbers", values.size()));
    std::vector<std::string> texts;
    for (const auto& value : values) texts.push_back(text_of(value, "features"));
    add(texts, {});
  }

  void add_table(std::string_view text) {
    MemoryStream bytes("the table", text);
    DelimitedRows rows(bytes);
    rows.next();
    const auto names = rows.names();
    std::vector<size_t> places;
    Names absent;
    for (const auto& column : columns_) {
      const auto found = std::find(names.begin(), names.end(), column);
      if (found == names.end() && !model_.encoding)
        throw ArgumentError(fmt::format("the table has no column {}; its columns: {}", column, fmt::join(names, ", ")));
      if (found == names.end()) absent.push_back(note_of_absent(column));
      places.push_back(static_cast<size_t>(found - names.begin()));
    }
    if (absent.size() == columns_.size())
      throw ArgumentError(fmt::format("the first line of the table names none of the model's columns {}; it names {}",
                                      fmt::join(columns_, ", "), fmt::join(names, ", ")));
    while (rows.next()) {
      rows.check_length(names.size());
      std::vector<std::string> texts;
      for (const auto place : places) texts.emplace_back(place < names.size() ? rows.values()[place] : "");
      add(texts, absent);
    }
  }

 private:
  bool is_known(const std::string& name) const {
    if (std::find(columns_.begin(), columns_.end(), name) != columns_.end()) return true;
    if (!model_.encoding) return false;
    const auto& columns = model_.encoding->columns;
    return std::any_of(columns.begin(), columns.end(), [&](const auto& column) { return column.name == name; });
  }

  void add(const std::vector<std::string>& texts, Names notes) {
    if (++request_.rows > most_rows_)
      throw ArgumentError(fmt::format("a request should hold at most {} inputs", most_rows_));
    std::vector<float> numbers(static_cast<size_t>(model_.values_per_row()));
    if (encoder_)
      encode(texts, numbers, notes);
    else
      copy_numbers(texts, numbers);
    request_.inputs.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
    request_.notes.push_back(std::move(notes));
  }

  void encode(const std::vector<std::string>& texts, std::vector<float>& numbers, Names& notes) const {
    std::vector<EncodingRemark> remarks;
    encoder_->encode({texts.begin(), texts.end()}, numbers.data(), &remarks);
    for (const auto& remark : remarks)
      if (remark.kind != EncodingRemark::Kind::kMissing || !is_noted(notes, remark))
        notes.push_back(to_text(remark, *model_.encoding));
  }

  bool is_noted(const Names& notes, const EncodingRemark& remark) const {
    const auto& name = model_.encoding->columns[remark.column].name;
    return std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return note.starts_with(name + ": "); });
  }

  static void copy_numbers(const std::vector<std::string>& texts, std::vector<float>& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto number = parse_number(texts.at(i), false);
      if (!number) throw ArgumentError("features should hold finite numbers");
      numbers[i] = static_cast<float>(*number);
    }
  }

  const ModelDescription& model_;
  int64_t most_rows_;
  Names columns_;
  std::optional<RowEncoder> encoder_;
  RowRequest request_;
};

bool is_image(std::string_view type, std::string_view body) {
  return is_media_type(type, "image/") || is_media_type(type, "multipart/form-data") || begins_as_image(body);
}

bool is_table_type(std::string_view type) {
  return is_media_type(type, "text/csv") || is_media_type(type, "text/tab-separated-values");
}

}  // namespace

int64_t most_row_values(const ModelDescription& model, size_t body, int64_t most_rows) {
  const auto columns = model.encoding ? static_cast<int64_t>(model.encoding->columns.size()) : model.values_per_row();
  return std::min(static_cast<int64_t>(body), (2 * columns + 2) * most_rows);
}

RowRequest read_row_request(const ModelDescription& model, std::string_view body, const RowRequestOptions& options) {
  if (model.takes_images()) throw ArgumentError(fmt::format("the model {} takes an image, not features", model.name));
  if (is_image(options.content_type, body))
    throw ArgumentError(fmt::format(
        "the model {} takes rows of a table, not an image; /predict?model=NAME asks another model of this server",
        model.name));
  RowCollector rows(model, options.most_rows);
  if (is_table_type(options.content_type)) {
    rows.add_table(body);
    auto request = std::move(rows).request();
    if (request.rows == 0) throw ArgumentError("the table holds no rows after the names of the columns");
    return request;
  }
  const auto document =
      read_bounded_json(body, {.more_values = most_row_values(model, body.size(), options.most_rows)}).document;
  const bool is_list = document.is_array();
  if (is_list || (document.is_object() && document.contains("rows"))) {
    const auto& list = is_list ? document : document["rows"];
    if (!list.is_array() || list.empty()) throw ArgumentError("rows should be a list of at least one row");
    for (const auto& row : list) rows.add_object(row);
    return std::move(rows).request();
  }
  if (!document.is_object() || !document.contains("features"))
    throw ArgumentError(
        "features are missing: {\"features\": {\"column\": value, ...}}, {\"features\": [value, ...]} in the model's "
        "order, "
        "or {\"rows\": [{...}, {...}]}");
  const auto& features = document["features"];
  if (features.is_array())
    rows.add_array(features);
  else
    rows.add_object(features);
  auto request = std::move(rows).request();
  request.several = false;
  return request;
}

}  // namespace priornet::serving
