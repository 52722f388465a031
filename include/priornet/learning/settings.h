#pragma once

#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Tables that a configuration chooses a row of by its name: optimisers, methods, schedules, outlier sources. A row has
// settings of its own, which are keys of the configuration.

namespace priornet {

/// From low to high; whether the ends belong to it.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool with_low = true;
  bool with_high = true;

  bool holds(double value) const;
};
constexpr Range above(double low) { return {low, std::numeric_limits<double>::infinity(), false}; }
constexpr Range at_least(double low) { return {low}; }

/// "in (0, 1]", "at least 1", "above 0".
std::string to_text(const Range& range);

/// What a row of a table can be told: an optimiser's beta1.
struct Setting {
  enum class Kind {
    kNumber,
    kWhole,  ///< a whole number
    kFlag,   ///< 1 or 0
    kWord    ///< one of several, by its place among them
  };

  const char* key;  ///< in a configuration
  double value;     ///< where nothing is given
  Range range;
  const char* what;  ///< it is; may be empty
  Kind kind = Kind::kNumber;
  std::array<const char*, 4> words = {};  ///< of kWord; null after the last
};

/// By key. One that is not given has the value of its Setting.
using SettingValues = std::map<std::string, double>;

/// What tables of any kind have in common. Two rows that have a setting of one key have it with the same value and
/// range.
struct Choice {
  const char* name;
  const std::vector<Setting>* settings;
};
template <class Row>
std::vector<Choice> choices_of(const std::vector<Row>& table) {
  std::vector<Choice> choices;
  for (const auto& row : table) choices.push_back({row.name, &row.settings});
  return choices;
}

/// In the order of the table.
std::vector<std::string> names_of(const std::vector<Choice>& table);

/// Where the row of that name stands. ArgumentError, opened by `table_name`, where there is none.
size_t place_of(const std::vector<Choice>& table, std::string_view table_name, std::string_view name);

/// The value of each setting of the row at `place`: as given, or its own. ArgumentError for a key that no row of the
/// table has, or a value out of its range; what is meant for another row is left out.
SettingValues settings_of(const std::vector<Choice>& table, std::string_view table_name, size_t place,
                          const SettingValues& given);

}  // namespace priornet
