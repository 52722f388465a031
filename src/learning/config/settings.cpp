#include <priornet/learning/settings.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

bool has(const Choice& row, std::string_view key) {
  return std::any_of(row.settings->begin(), row.settings->end(), [&](const auto& own) { return own.key == key; });
}

}  // namespace

bool Range::holds(double value) const {
  return (value > low || (with_low && value == low)) && (value < high || (with_high && value == high));
}

std::string to_text(const Range& range) {
  if (std::isinf(range.low) && std::isinf(range.high)) return "a number";
  if (std::isinf(range.high)) return fmt::format("{} {:g}", range.with_low ? "at least" : "above", range.low);
  if (std::isinf(range.low)) return fmt::format("{} {:g}", range.with_high ? "at most" : "below", range.high);
  return fmt::format("in {}{:g}, {:g}{}", range.with_low ? '[' : '(', range.low, range.high,
                     range.with_high ? ']' : ')');
}

std::vector<std::string> names_of(const std::vector<Choice>& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

size_t place_of(const std::vector<Choice>& table, std::string_view table_name, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  if (found != table.end()) return static_cast<size_t>(found - table.begin());
  throw ArgumentError(
      fmt::format("{}: name should be one of {}, found {}", table_name, fmt::join(names_of(table), ", "), name));
}

SettingValues settings_of(const std::vector<Choice>& table, std::string_view table_name, size_t place,
                          const SettingValues& given) {
  for (const auto& item : given)
    if (std::none_of(table.begin(), table.end(), [&](const auto& row) { return has(row, item.first); }))
      throw ArgumentError(fmt::format("{}: there is no setting {}", table_name, item.first));
  const auto& row = table.at(place);
  SettingValues values;
  for (const auto& setting : *row.settings) {
    const auto found = given.find(setting.key);
    const auto value = found == given.end() ? setting.value : found->second;
    if (!setting.range.holds(value))
      throw ArgumentError(
          fmt::format("{}: {} should be {}, found {:g}", row.name, setting.key, to_text(setting.range), value));
    values[setting.key] = value;
  }
  return values;
}

}  // namespace priornet
