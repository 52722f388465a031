#pragma once

#include <priornet/learning/settings.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace priornet {

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

  /// A key that may be left out: `field` hands it over if it is there.
  template <class T, class Field>
  void maybe(const char* key, std::optional<T>& value, const Field& field) {
    if (!value && !is_given(key)) return;
    T present = value.value_or(T());
    field(present);
    value = std::move(present);
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
};

/// Goes through the settings of all rows of a table, each key once, with the names of the rows that have it.
void visit_settings(const std::vector<Choice>& table, SettingValues& values, ConfigFields& fields);

/// Goes through the keys of a configuration with a reader, a writer, ...
using FieldsVisit = std::function<void(ConfigFields&)>;

struct TomlText {
  std::string name;  ///< for messages: the path of a file
  std::string text;
};

/// An empty path stands for an empty file. DataError where it cannot be read.
TomlText load_toml(const std::filesystem::path& path);

/// Sets what the TOML gives, then what `overrides` give ("training.epochs=3", the value in TOML or plain text); the
/// other values stay.
/// ConfigError that names file, line and key: what is not TOML, a key or table nobody asks for (with the nearest one
/// that is), a value of another type or out of its range.
void read_toml(const TomlText& toml, const std::vector<std::string>& overrides, const FieldsVisit& visit);
void read_toml(const std::filesystem::path& path, const std::vector<std::string>& overrides, const FieldsVisit& visit);

/// All keys with their values as a TOML file, each with a comment that says what it is: reads back as the same.
std::string to_toml(const FieldsVisit& visit);

/// The same; keys that may be left out, and were, are there as comments.
std::string to_toml_with_all_keys(const FieldsVisit& visit);

}  // namespace priornet
