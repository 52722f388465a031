#include <priornet/learning/table_encoding.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "learning/base/json_text.h"
#include "learning/data/column_types.h"

namespace priornet {
namespace {

// One feature each: what people do at weekends, or after five, begins and ends abruptly, which a circle does not show.
constexpr std::array<const char*, 10> kDateParts = {"day",       "season sin", "season cos", "Monday",   "Tuesday",
                                                    "Wednesday", "Thursday",   "Friday",     "Saturday", "Sunday"};
constexpr std::array<const char*, 3> kTimeParts = {"time", "time sin", "time cos"};

// FNV-1a: the bucket of a level is part of a model, and must never change.
uint64_t level_hash(std::string_view level) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : level) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

int64_t TableColumn::features() const {
  const int64_t mark = marks_missing ? 1 : 0;
  switch (type) {
    case ColumnType::kDropped:
      return 0;
    case ColumnType::kCategory:
      return static_cast<int64_t>(levels.size()) + buckets + mark;
    case ColumnType::kDate:
      return static_cast<int64_t>((has_date ? kDateParts.size() : 0) + (has_time ? kTimeParts.size() : 0)) + mark;
    default:
      return 1 + mark;
  }
}

int64_t TableEncoding::width() const {
  return std::accumulate(columns.begin(), columns.end(), int64_t{0},
                         [](int64_t sum, const TableColumn& column) { return sum + column.features(); });
}

std::vector<std::string> TableEncoding::feature_names() const {
  std::vector<std::string> names;
  for (size_t c = 0; c < columns.size(); ++c) {
    const auto& column = columns[c];
    const auto name = shown_name(c);
    const bool is_number = column.type == ColumnType::kNumber || column.type == ColumnType::kBoolean;
    if (is_number) names.push_back(name);
    for (const auto& level : column.levels) names.push_back(fmt::format("{}={}", name, level));
    for (int64_t b = 1; b <= column.buckets; ++b)
      names.push_back(column.buckets == 1 ? name + "=(other)" : fmt::format("{}=(other {})", name, b));
    if (column.type == ColumnType::kDate && column.has_date)
      for (const auto* part : kDateParts) names.push_back(fmt::format("{}: {}", name, part));
    if (column.type == ColumnType::kDate && column.has_time)
      for (const auto* part : kTimeParts) names.push_back(fmt::format("{}: {}", name, part));
    if (column.type != ColumnType::kDropped && column.marks_missing) names.push_back(name + " missing");
  }
  return names;
}

std::string TableEncoding::shown_name(size_t column) const {
  const auto& name = columns.at(column).name;
  return name.empty() ? fmt::format("(column {})", column + 1) : name;
}

std::vector<std::string> TableEncoding::column_names() const {
  std::vector<std::string> names;
  for (const auto& column : columns)
    if (column.type != ColumnType::kDropped) names.push_back(column.name);
  return names;
}

namespace {

std::string value_text(const TableColumn& column, double value) {
  if (std::isnan(value)) return "missing";
  if (column.type == ColumnType::kBoolean) return value >= 0.5 ? "yes" : "no";
  if (column.type == ColumnType::kDate) return to_text(Moment{value, column.has_date, column.has_time});
  return fmt::format("{:.6g}", value);
}

}  // namespace

std::string decoded_value(const TableColumn& column, const float* features) {
  if (column.type == ColumnType::kDropped || (column.marks_missing && features[column.features() - 1] > 0.5F))
    return "missing";
  if (column.type != ColumnType::kCategory) {
    if (column.type != ColumnType::kDate || !column.has_date || !column.has_time)
      return value_text(column, features[0]);
    // The float32 of days since 1970 is too coarse for minutes, which have a feature of their own.
    const double time = features[kDateParts.size()];
    return value_text(column, std::round(features[0] - time) + time);
  }
  for (size_t l = 0; l < column.levels.size(); ++l)
    if (features[l] > 0.5F) return column.levels[l];
  return "(other)";
}

std::string typical_value(const TableColumn& column) {
  if (column.type != ColumnType::kCategory) return value_text(column, column.fill);
  return column.levels.empty() ? "" : column.levels[0];
}

std::string to_json(const TableEncoding& encoding) {
  auto columns = nlohmann::ordered_json::array();
  for (const auto& column : encoding.columns) {
    nlohmann::ordered_json json = {{"name", column.name},
                                   {"type", kColumnTypeNames[static_cast<size_t>(column.type)]},
                                   {"summary", column.summary},
                                   {"missing", column.missing}};
    if (column.type != ColumnType::kDropped) {
      json["marks_missing"] = column.marks_missing;
      json["fill"] = column.fill;
    }
    if (column.type == ColumnType::kCategory) {
      json["levels"] = column.levels;
      json["buckets"] = column.buckets;
    }
    if (column.type == ColumnType::kDate) {
      json["has_date"] = column.has_date;
      json["has_time"] = column.has_time;
      json["day_first"] = column.day_first;
    }
    columns.push_back(std::move(json));
  }
  const nlohmann::ordered_json json = {{"columns", columns}, {"decimal_comma", encoding.decimal_comma}};
  return json_text(json);
}

TableEncoding table_encoding_from_json(std::string_view text, const std::string& owner) {
  constexpr int64_t kMostBuckets = 1 << 20;
  try {
    const auto json = nlohmann::json::parse(text);
    TableEncoding encoding;
    encoding.decimal_comma = json.at("decimal_comma").get<bool>();
    for (const auto& one : json.at("columns")) {
      TableColumn column;
      one.at("name").get_to(column.name);
      const auto type = one.at("type").get<std::string>();
      const auto named = std::find(kColumnTypeNames.begin(), kColumnTypeNames.end(), type);
      if (named == kColumnTypeNames.end())
        throw DataError(fmt::format("{}: column {} has the unknown type {}", owner, column.name, type));
      column.type = static_cast<ColumnType>(named - kColumnTypeNames.begin());
      column.summary = one.value("summary", "");
      column.missing = whole_number_of(one, "missing", 0);
      column.marks_missing = one.value("marks_missing", false);
      column.fill = one.value("fill", 0.0);
      column.levels = one.value("levels", std::vector<std::string>{});
      column.buckets = whole_number_of(one, "buckets", 0);
      column.has_date = one.value("has_date", false);
      column.has_time = one.value("has_time", false);
      column.day_first = one.value("day_first", false);
      if (column.buckets < 0 || column.buckets > kMostBuckets || !std::isfinite(column.fill))
        throw DataError(fmt::format("{}: the encoding of column {} is damaged", owner, column.name));
      encoding.columns.push_back(std::move(column));
    }
    return encoding;
  } catch (const nlohmann::json::exception&) {
    throw DataError(fmt::format("{}: its description of the table's columns is damaged", owner));
  }
}

std::string to_text(const EncodingRemark& remark, const TableEncoding& encoding) {
  const auto& column = encoding.columns.at(remark.column);
  const auto name = encoding.shown_name(remark.column);
  using Kind = EncodingRemark::Kind;
  constexpr size_t kLongest = 40;
  const auto shown = remark.value.size() <= kLongest ? remark.value : remark.value.substr(0, kLongest) + "...";
  switch (remark.kind) {
    case Kind::kUnknownLevel:
      return fmt::format("{}: \"{}\" {} in training", name, shown,
                         column.buckets == 0 ? "was not seen" : "was rare, or not seen,");
    case Kind::kOtherType:
      return fmt::format("{}: \"{}\" is not a {} and counts as missing", name, shown,
                         kColumnTypeNames[static_cast<size_t>(column.type)]);
    case Kind::kMissing:
      break;
  }
  return fmt::format("{}: is missing here, but never was in training", name);
}

RowEncoder::RowEncoder(const TableEncoding& encoding, const std::vector<std::string>& names,
                       std::optional<bool> decimal_comma)
    : encoding_(encoding), decimal_comma_(decimal_comma.value_or(encoding.decimal_comma)), values_(names.size()) {
  int64_t feature = 0;
  for (size_t c = 0; c < encoding.columns.size(); ++c) {
    const auto& column = encoding.columns[c];
    if (column.type == ColumnType::kDropped) continue;
    const auto found = std::find(names.begin(), names.end(), column.name);
    if (found != names.end() && std::find(found + 1, names.end(), column.name) != names.end())
      throw DataError(fmt::format("two columns have the name {}", column.name));
    if (found == names.end()) absent_.push_back(column.name);
    Place place{c, found == names.end() ? -1 : found - names.begin(), feature, {}};
    for (size_t l = 0; l < column.levels.size(); ++l) place.levels.emplace(column.levels[l], static_cast<int64_t>(l));
    places_.push_back(std::move(place));
    feature += column.features();
  }
  if (absent_.size() == places_.size())
    throw DataError(fmt::format("has none of the columns {}; its columns: {}", fmt::join(encoding.column_names(), ", "),
                                fmt::join(names, ", ")));
}

void RowEncoder::encode(const std::vector<std::string_view>& values, float* to, std::vector<EncodingRemark>* remarks,
                        bool keep_missing) const {
  if (values.size() != values_)
    throw ArgumentError(fmt::format("encode: should be given {} values, found {}", values_, values.size()));
  for (const auto& place : places_)
    encode_value(place, place.value < 0 ? std::string_view() : values[static_cast<size_t>(place.value)],
                 to + place.feature, remarks, keep_missing);
}

namespace {

void write_circle(float*& to, double turns) {
  *to++ = static_cast<float>(std::sin(2 * std::numbers::pi * turns));
  *to++ = static_cast<float>(std::cos(2 * std::numbers::pi * turns));
}

void write_moment(const TableColumn& column, const Moment& moment, float* to) {
  constexpr double kDaysOfYear = 365.2425;
  const auto day = std::floor(moment.days);
  if (column.has_date) {
    *to++ = static_cast<float>(moment.days);
    write_circle(to, moment.days / kDaysOfYear);
    const auto after_monday = std::fmod(std::fmod(day + 3, 7) + 7, 7);  // 1970 began on a Thursday
    for (int weekday = 0; weekday < 7; ++weekday) *to++ = weekday == after_monday ? 1.0F : 0.0F;
  }
  if (column.has_time) {
    *to++ = static_cast<float>(moment.days - day);
    write_circle(to, moment.days - day);
  }
}

}  // namespace

void RowEncoder::encode_value(const Place& place, std::string_view value, float* to,
                              std::vector<EncodingRemark>* remarks, bool keep_missing) const {
  using Kind = EncodingRemark::Kind;
  const auto& column = encoding_.columns[place.column];
  const auto features = column.features();
  const auto remark = [&](Kind kind) {
    if (remarks != nullptr) remarks->push_back({place.column, kind, std::string(value)});
  };
  std::fill(to, to + features, 0.0F);
  const auto fill_in = [&] {
    if (column.type != ColumnType::kCategory)
      *to = keep_missing ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(column.fill);
    if (column.marks_missing) to[features - 1] = 1;
  };
  if (is_missing_value(value)) {
    if (!column.marks_missing) remark(Kind::kMissing);
    return fill_in();
  }
  switch (column.type) {
    case ColumnType::kNumber:
      if (const auto number = parse_number(value, decimal_comma_)) {
        *to = static_cast<float>(*number);
        return;
      }
      break;
    case ColumnType::kBoolean:
      if (const auto truth = parse_boolean(value)) {
        *to = *truth ? 1.0F : 0.0F;
        return;
      }
      break;
    case ColumnType::kDate:
      if (const auto moment = parse_moment(value, column.day_first ? DateOrder::kDayFirst : DateOrder::kMonthFirst)) {
        write_moment(column, *moment, to);
        return;
      }
      break;
    case ColumnType::kCategory: {
      const auto level = place.levels.find(value);
      if (level != place.levels.end()) {
        to[level->second] = 1;
        return;
      }
      const auto first_bucket = static_cast<int64_t>(column.levels.size());
      if (column.buckets > 0)
        to[first_bucket + static_cast<int64_t>(level_hash(value) % static_cast<uint64_t>(column.buckets))] = 1;
      if (column.buckets <= 1) remark(Kind::kUnknownLevel);  // several buckets are meant for rare levels
      return;
    }
    case ColumnType::kDropped:
      return;
  }
  remark(Kind::kOtherType);
  fill_in();
}

}  // namespace priornet
