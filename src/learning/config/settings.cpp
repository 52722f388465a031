#include <priornet/learning/settings.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "learning/base/file_io.h"
#include "learning/base/names.h"

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

namespace {

// The names of the rows that have a setting of this key.
std::string rows_with(const std::vector<Choice>& table, std::string_view key) {
  std::vector<std::string_view> names;
  for (const auto& row : table)
    for (const auto& setting : *row.settings)
      if (setting.key == key) names.emplace_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void visit_setting(const Setting& setting, double& value, ConfigFields& fields, const char* what) {
  switch (setting.kind) {
    case Setting::Kind::kNumber:
      return fields.number(setting.key, value, setting.range, what);
    case Setting::Kind::kWhole: {
      auto whole = static_cast<int64_t>(value);
      fields.whole(setting.key, whole, setting.range, what);
      value = static_cast<double>(whole);
      return;
    }
    case Setting::Kind::kFlag: {
      bool is_set = value != 0.0;
      fields.flag(setting.key, is_set, what);
      value = is_set ? 1.0 : 0.0;
      return;
    }
    case Setting::Kind::kWord: {
      std::vector<std::string> words;
      for (const auto* word : setting.words)
        if (word != nullptr) words.emplace_back(word);
      auto word = words.at(static_cast<size_t>(value));
      fields.choice(setting.key, word, words, what);
      value = static_cast<double>(std::find(words.begin(), words.end(), word) - words.begin());
      return;
    }
  }
}

}  // namespace

void visit_settings(const std::vector<Choice>& table, SettingValues& values, ConfigFields& fields) {
  std::set<std::string_view> seen;
  for (const auto& row : table)
    for (const auto& setting : *row.settings) {
      if (!seen.insert(setting.key).second) continue;
      const auto what = rows_with(table, setting.key) + (*setting.what == 0 ? "" : ": ") + setting.what;
      auto& value = values.try_emplace(setting.key, setting.value).first->second;
      visit_setting(setting, value, fields, what.c_str());
    }
}

// Configurations as TOML.

namespace {

// One source of keys: a file, or one override.
struct Source {
  std::string name;
  bool has_lines = true;
  toml::table tables;
};

std::string place(const Source& source, const toml::node& node) {
  return source.has_lines ? fmt::format("{}: line {}", source.name, node.source().begin.line) : source.name;
}

bool is_ascii(char c) { return (static_cast<unsigned char>(c) & 0x80) == 0; }

// The length of the quotes at `at`: three begin a string of several lines.
size_t quotes_at(std::string_view text, size_t at) { return text.substr(at, 3) == std::string(3, text[at]) ? 3 : 1; }

// Where the string whose quotes begin at `at` has ended.
size_t end_of_string(std::string_view text, size_t at) {
  const auto length = quotes_at(text, at);
  const auto quotes = text.substr(at, length);
  for (at += length; at < text.size(); ++at) {
    if (text[at] == '\\' && quotes[0] == '"')
      ++at;
    else if (text.substr(at, length) == quotes)
      return std::min(text.find_first_not_of(quotes[0], at), at + (length == 3 ? 5 : 1));
  }
  return text.size();
}

// Where in a string a character that is not ASCII follows a backslash, or the white space after one.
std::optional<size_t> find_escaped_beyond_ascii(std::string_view string) {
  if (string[0] != '"') return std::nullopt;  // in other strings a backslash is one
  for (auto at = string.find('\\'); at < string.size(); at = string.find('\\', at + 2)) {
    const auto next = string.find_first_not_of(" \t\r\n", at + 1);
    if (next < string.size() && !is_ascii(string[next])) return next;
  }
  return std::nullopt;
}

// In TOML without mistakes: the first character that is not ASCII outside of strings and comments or after a backslash.
std::optional<size_t> find_misplaced(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!is_ascii(text[at])) return at;
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '"' || text[at] == '\'') {
      const auto end = end_of_string(text, at);
      if (const auto found = find_escaped_beyond_ascii(text.substr(at, end - at))) return at + *found;
      at = end;
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

// Throws toml::parse_error for the character at `at`.
[[noreturn]] void refuse_misplaced(std::string_view text, size_t at) {
  const auto before = text.substr(0, at), rest = text.substr(at);
  const auto line = static_cast<toml::source_index>(1 + std::count(before.begin(), before.end(), '\n'));
  const auto size = std::find_if(rest.begin(), rest.end(), is_ascii) - rest.begin();
  const auto message = fmt::format("found \"{}\", which may stand only in strings and comments",
                                   printable(rest.substr(0, static_cast<size_t>(size))));
  throw toml::parse_error(message.c_str(), toml::source_position{line, 1});
}

// toml++ is undefined for some characters that are not ASCII, wherever it expects white space. So it first reads the
// text without them, and then the text itself if they stand in strings and comments alone.
toml::table tables_of(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string plain(text);
  std::replace_if(plain.begin(), plain.end(), std::not_fn(is_ascii), 'x');
  const auto misplaced = find_misplaced(text);
  try {
    auto tables = toml::parse(plain);
    if (plain == text) return tables;
  } catch (const toml::parse_error&) {
    if (!misplaced) throw;
  }
  if (misplaced) refuse_misplaced(text, *misplaced);
  return toml::parse(text);
}

Source parsed(std::string name, std::string_view text) {
  try {
    return {name, true, tables_of(text)};
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}: line {}: {}", name, error.source().begin.line, error.description()));
  }
}

// "training.epochs=3"; a value that is not TOML is text, so that names of sets need no quotes inside quotes.
Source parsed_override(const std::string& text) {
  const auto name = fmt::format("--set {}", text);
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw ConfigError(fmt::format("{}: should be KEY=VALUE", name));
  const auto key = text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  try {
    return {name, false, tables_of(fmt::format("{} = {}", key, value))};
  } catch (const toml::parse_error&) {
  }
  toml::table last;
  auto* at = &last;
  size_t begin = 0;
  for (auto dot = key.find('.'); dot != std::string::npos; dot = key.find('.', begin)) {
    at = at->insert(key.substr(begin, dot - begin), toml::table{}).first->second.as_table();
    begin = dot + 1;
  }
  at->insert(key.substr(begin), value);
  return {name, false, std::move(last)};
}

// What was found, for a message. toml++ could write lists too, but is undefined for numbers below 0.1 in them.
std::string shown(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (const auto* list = node.as_array()) {
    std::vector<std::string> items;
    for (const auto& item : *list) items.push_back(shown(item));
    return items.empty() ? "[]" : fmt::format("[ {} ]", fmt::join(items, ", "));
  }
  if (const auto* number = node.as_floating_point()) {  // toml++ writes 0.2 as 0.20000000000000001
    const auto text = fmt::format("{}", number->get());
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
  }
  std::ostringstream text;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) text << value;
  });
  return text.str();
}

class Reader final : public ConfigFields {
 public:
  explicit Reader(const Source& source) : source_(source), table_(&source.tables) { known_[""]; }

  void table(const char* name, const char*) override {
    name_ = name;
    known_[name_];
    const auto* node = source_.tables.get(name);
    if (node != nullptr && !node->is_table()) fail(*node, name, "a table");
    table_ = node == nullptr ? nullptr : node->as_table();
  }

  void flag(const char* key, bool& value, const char*) override { take(key, value, "true or false"); }
  void text(const char* key, std::string& value, const char*) override { take(key, value, "text in quotes"); }

  void whole(const char* key, int64_t& value, const Range& range, const char*) override {
    take(key, value, "a whole number");
    check(key, static_cast<double>(value), range);
  }

  void number(const char* key, double& value, const Range& range, const char*) override {
    take(key, value, "a number");
    if (const auto* node = find(key); node != nullptr && std::isinf(value)) fail(*node, key, "a finite number");
    check(key, value, range);
  }

  void choice(const char* key, std::string& value, const std::vector<std::string>& choices, const char*) override {
    take(key, value, "text in quotes");
    const auto* node = find(key);
    if (node == nullptr || std::find(choices.begin(), choices.end(), value) != choices.end()) return;
    fail(*node, key, fmt::format("one of {}", fmt::join(choices, ", ")));
  }

  void list(const char* key, std::vector<int64_t>& value, const char*) override {
    if (const auto* node = find(key)) value = elements<int64_t>(*node, key, "a list of whole numbers");
  }

  void numbers(const char* key, std::vector<double>& value, const char*) override {
    if (const auto* node = find(key)) value = elements<double>(*node, key, "a list of numbers");
  }

  void lists(const char* key, std::vector<std::vector<int64_t>>& value, const char*) override {
    const auto* node = find(key);
    if (node == nullptr) return;
    constexpr const char* kWanted = "a list of lists of whole numbers";
    if (!node->is_array()) fail(*node, key, kWanted);
    value.clear();
    for (const auto& inner : *node->as_array()) value.push_back(elements<int64_t>(inner, key, kWanted));
  }

  // Call it after every key was asked for.
  void refuse_unknown() const {
    for (const auto& [name, node] : source_.tables) {
      const std::string key(name.str());
      if (node.is_table() && known_.contains(key)) {
        for (const auto& [inner, value] : *node.as_table()) refuse_unless_known(key, std::string(inner.str()), value);
      } else if (node.is_table()) {
        std::vector<std::string> tables;
        for (const auto& [table, keys] : known_) tables.push_back(table);
        refuse(node, fmt::format("table [{}]", key), nearest_name(key, tables));
      } else {
        refuse_unless_known("", key, node);
      }
    }
  }

 private:
  bool is_given(const char* key) override { return find(key) != nullptr; }

  const toml::node* find(const char* key) {
    known_[name_].push_back(key);
    return table_ == nullptr ? nullptr : table_->get(key);
  }

  template <class T>
  void take(const char* key, T& value, const char* wanted) {
    const auto* node = find(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<T>();
    const auto converted = std::is_same_v<T, double> && node->is_integer() ? node->value<T>() : found;
    if (!converted) fail(*node, key, wanted);
    value = *converted;
  }

  // A whole number may stand where a number is wanted, but not the other way round.
  template <class Number>
  std::vector<Number> elements(const toml::node& node, const char* key, const char* wanted) const {
    if (!node.is_array()) fail(node, key, wanted);
    std::vector<Number> values;
    for (const auto& element : *node.as_array()) {
      const auto value = std::is_integral_v<Number> ? element.value_exact<Number>() : element.value<Number>();
      if (!value || !std::isfinite(static_cast<double>(*value))) fail(node, key, wanted);
      values.push_back(*value);
    }
    return values;
  }

  void check(const char* key, double value, const Range& range) {
    const auto* node = find(key);
    if (node != nullptr && !range.holds(value)) fail(*node, key, to_text(range));
  }

  std::string full(const std::string& table, const std::string& key) const {
    return table.empty() ? key : table + "." + key;
  }

  [[noreturn]] void fail(const toml::node& node, const std::string& key, const std::string& wanted) const {
    throw ConfigError(fmt::format("{}: {} should be {}, found {}", place(source_, node),
                                  key == name_ ? key : full(name_, key), wanted, shown(node)));
  }

  void refuse_unless_known(const std::string& table, const std::string& key, const toml::node& node) const {
    const auto& keys = known_.at(table);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) return;
    // The same key in another table is a better guess than another key in this one.
    std::vector<std::string> elsewhere;
    for (const auto& [other, its_keys] : known_)
      if (std::find(its_keys.begin(), its_keys.end(), key) != its_keys.end()) elsewhere.push_back(full(other, key));
    const auto nearest = nearest_name(key, keys);
    refuse(node, fmt::format("key {}", full(table, key)),
           !elsewhere.empty() ? fmt::format("{}", fmt::join(elsewhere, " or "))
           : nearest.empty()  ? nearest
                              : full(table, nearest));
  }

  [[noreturn]] void refuse(const toml::node& node, const std::string& what, const std::string& nearest) const {
    throw ConfigError(fmt::format("{}: there is no {}{}", place(source_, node), what,
                                  nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
  }

  const Source& source_;
  const toml::table* table_;
  std::string name_;
  std::map<std::string, std::vector<std::string>> known_;  ///< keys of each table
};

void read(const Source& source, const FieldsVisit& visit) {
  Reader reader(source);
  visit(reader);
  reader.refuse_unknown();
}

}  // namespace

TomlText load_toml(const std::filesystem::path& path) {
  return {path.string(), path.empty() ? std::string() : InputFile(path).read_rest()};
}

void read_toml(const TomlText& toml, const std::vector<std::string>& overrides, const FieldsVisit& visit) {
  read(parsed(toml.name, toml.text), visit);
  for (const auto& override_text : overrides) read(parsed_override(override_text), visit);
}

void read_toml(const std::filesystem::path& path, const std::vector<std::string>& overrides, const FieldsVisit& visit) {
  read_toml(load_toml(path), overrides, visit);
}

namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  return out + '"';
}

// The shortest text that reads back as the same value, and as a number that need not be whole.
std::string decimal(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const auto text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string bracketed(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

class Writer final : public ConfigFields {
 public:
  explicit Writer(bool all_keys) : all_keys_(all_keys) {}

  std::string take() { return std::move(text_); }

  void table(const char* name, const char* what) override {
    table_ = name;
    text_ += fmt::format("{}[{}]  # {}\n", text_.empty() ? "" : "\n", name, what);
  }
  void flag(const char* key, bool& value, const char* what) override { line(key, value ? "true" : "false", what); }
  void whole(const char* key, int64_t& value, const Range&, const char* what) override {
    line(key, fmt::format("{}", value), what);
  }
  void number(const char* key, double& value, const Range&, const char* what) override {
    line(key, decimal(value), what);
  }
  void text(const char* key, std::string& value, const char* what) override {
    if (!is_utf8(value))
      throw ConfigError(fmt::format("{}.{}: {} is not UTF-8, and a configuration has to be: rename the file", table_,
                                    key, printable(value)));
    line(key, in_quotes(value), what);
  }
  void choice(const char* key, std::string& value, const std::vector<std::string>& choices, const char* what) override {
    line(key, in_quotes(value), fmt::format("{}: {}", what, fmt::join(choices, ", ")));
  }
  void list(const char* key, std::vector<int64_t>& value, const char* what) override {
    line(key, bracketed(value), what);
  }
  void numbers(const char* key, std::vector<double>& value, const char* what) override {
    std::vector<std::string> decimals;
    for (const auto number : value) decimals.push_back(decimal(number));
    line(key, fmt::format("[{}]", fmt::join(decimals, ", ")), what);
  }
  void lists(const char* key, std::vector<std::vector<int64_t>>& value, const char* what) override {
    std::vector<std::string> inner;
    for (const auto& values : value) inner.push_back(bracketed(values));
    line(key, fmt::format("[{}]", fmt::join(inner, ", ")), what);
  }

 private:
  // For keys without a value.
  bool is_given(const char*) override {
    without_value_ = all_keys_;
    return all_keys_;
  }

  void line(const char* key, const std::string& value, const std::string& what) {
    const auto setting = without_value_ ? fmt::format("# {}", key) : fmt::format("{} = {}", key, value);
    text_ += fmt::format("{:<40}  # {}\n", setting, what);
    without_value_ = false;
  }

  std::string text_;
  std::string table_;
  bool all_keys_;
  bool without_value_ = false;  ///< the key that follows
};

}  // namespace

std::string to_toml(const FieldsVisit& visit) {
  Writer writer(false);
  visit(writer);
  return writer.take();
}

std::string to_toml_with_all_keys(const FieldsVisit& visit) {
  Writer writer(true);
  visit(writer);
  return writer.take();
}

}  // namespace priornet
