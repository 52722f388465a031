#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Tables from which a configuration chooses one row by name: optimisers, methods, schedules, outlier sources. A row has
// its own settings, which are keys of the configuration.

namespace priornet {

/// From low to high; with_low and with_high say whether the ends belong to it.
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

/// A setting of a row of a table: an optimiser's beta1.
struct Setting {
  enum class Kind {
    kNumber,
    kWhole,  ///< a whole number
    kFlag,   ///< 1 or 0
    kWord    ///< one of several, by its place among them
  };

  const char* key;  ///< in a configuration
  double value;     ///< the default
  Range range;
  const char* what;  ///< what it is, in words; may be empty
  Kind kind = Kind::kNumber;
  std::array<const char*, 4> words = {};  ///< of kWord; null after the last
};

/// By key. A setting that is not given has its default.
using SettingValues = std::map<std::string, double>;

/// What the tables have in common. If two rows have a setting of the same key, it has the same default and range in
/// both.
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

/// The place of the row with that name. ArgumentError, which begins with `table_name`, if there is none.
size_t place_of(const std::vector<Choice>& table, std::string_view table_name, std::string_view name);

/// The value of each setting of the row at `place`: as given, or its default. ArgumentError for a key that no row of
/// the table has, or a value out of its range; settings of other rows are left out.
SettingValues settings_of(const std::vector<Choice>& table, std::string_view table_name, size_t place,
                          const SettingValues& given);

/// The keys of a configuration, handed over one by one: to be read from a file, written to one, listed. A function goes
/// through the keys once, in the order of the file, and serves all of these.
class ConfigFields {
 public:
  virtual ~ConfigFields() = default;

  /// The keys that follow belong to [name].
  virtual void table(const char* name, const char* what) = 0;

  virtual void flag(const char* key, bool& value, const char* what) = 0;
  virtual void whole(const char* key, int64_t& value, const Range& range, const char* what) = 0;
  virtual void number(const char* key, double& value, const Range& range, const char* what) = 0;
  virtual void text(const char* key, std::string& value, const char* what) = 0;
  virtual void choice(const char* key, std::string& value, const std::vector<std::string>& choices,
                      const char* what) = 0;
  virtual void list(const char* key, std::vector<int64_t>& value, const char* what) = 0;
  virtual void numbers(const char* key, std::vector<double>& value, const char* what) = 0;
  virtual void lists(const char* key, std::vector<std::vector<int64_t>>& value, const char* what) = 0;

  // The same for keys that may be left out: they stay empty unless they are given.
  void flag(const char* key, std::optional<bool>& value, const char* what) {
    if_given(key, value, [&](bool& given) { flag(key, given, what); });
  }
  void whole(const char* key, std::optional<int64_t>& value, const Range& range, const char* what) {
    if_given(key, value, [&](int64_t& given) { whole(key, given, range, what); });
  }
  void number(const char* key, std::optional<double>& value, const Range& range, const char* what) {
    if_given(key, value, [&](double& given) { number(key, given, range, what); });
  }
  void text(const char* key, std::optional<std::string>& value, const char* what) {
    if_given(key, value, [&](std::string& given) { text(key, given, what); });
  }
  void list(const char* key, std::optional<std::vector<int64_t>>& value, const char* what) {
    if_given(key, value, [&](std::vector<int64_t>& given) { list(key, given, what); });
  }
  void numbers(const char* key, std::optional<std::vector<double>>& value, const char* what) {
    if_given(key, value, [&](std::vector<double>& given) { numbers(key, given, what); });
  }
  void lists(const char* key, std::optional<std::vector<std::vector<int64_t>>>& value, const char* what) {
    if_given(key, value, [&](std::vector<std::vector<int64_t>>& given) { lists(key, given, what); });
  }

  /// An enumeration by the names of its values.
  template <class Enum, size_t N>
  void named(const char* key, Enum& value, const std::array<std::pair<std::string_view, Enum>, N>& names,
             const char* what) {
    std::vector<std::string> choices;
    std::string chosen;
    for (const auto& [name, of] : names) {
      choices.emplace_back(name);
      if (of == value) chosen = name;
    }
    choice(key, chosen, choices, what);
    for (const auto& [name, of] : names)
      if (name == chosen) value = of;
  }

 private:
  virtual bool is_given(const char* key) = 0;

  template <class T, class Field>
  void if_given(const char* key, std::optional<T>& value, const Field& field) {
    if (!value && !is_given(key)) return;
    T present = value.value_or(T());
    field(present);
    value = std::move(present);
  }
};

/// Goes through the settings of all rows of a table, each key once, with the names of the rows that have it.
void visit_settings(const std::vector<Choice>& table, SettingValues& values, ConfigFields& fields);

/// Goes through the keys of a configuration with a reader, a writer, ...
using FieldsVisit = std::function<void(ConfigFields&)>;

struct TomlText {
  std::string name;  ///< for messages: the path of a file
  std::string text;
};

/// An empty path stands for an empty file. DataError if it cannot be read.
TomlText load_toml(const std::filesystem::path& path);

/// Sets what the TOML gives, then what `overrides` give ("training.epochs=3", the value in TOML or plain text); the
/// other values stay. ConfigError that names file, line and key for text that is not TOML, an unknown key or table
/// (with the nearest known one), and a value of another type or out of its range.
void read_toml(const TomlText& toml, const std::vector<std::string>& overrides, const FieldsVisit& visit);
void read_toml(const std::filesystem::path& path, const std::vector<std::string>& overrides, const FieldsVisit& visit);

/// All keys with their values as a TOML file, each with a comment that says what it is; reading it gives the same
/// values.
std::string to_toml(const FieldsVisit& visit);

/// The same; keys that were left out appear as comments.
std::string to_toml_with_all_keys(const FieldsVisit& visit);

}  // namespace priornet
