#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/config/toml_reader.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/core/nearest_name.h>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace priornet {
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

Source parsed(std::string name, std::string_view text, bool has_lines) {
  try {
    return {name, has_lines, toml::parse(text)};
  } catch (const toml::parse_error& error) {
    throw ConfigError(has_lines ? fmt::format("{}: line {}: {}", name, error.source().begin.line, error.description())
                                : fmt::format("{}: {}", name, error.description()));
  }
}

// "training.epochs=3"; a value that is no TOML is text, so that names of sets need no quotes within quotes.
Source parsed_override(const std::string& text) {
  const auto name = fmt::format("--set {}", text);
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw ConfigError(fmt::format("{}: should be KEY=VALUE", name));
  const auto key = text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  try {
    return {name, false, toml::parse(fmt::format("{} = {}", key, value))};
  } catch (const toml::parse_error&) {
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
    if (const auto* node = find(key)) value = numbers(*node, key, "a list of whole numbers");
  }

  void lists(const char* key, std::vector<std::vector<int64_t>>& value, const char*) override {
    const auto* node = find(key);
    if (node == nullptr) return;
    constexpr const char* kWanted = "a list of lists of whole numbers";
    if (!node->is_array()) fail(*node, key, kWanted);
    value.clear();
    for (const auto& inner : *node->as_array()) value.push_back(numbers(inner, key, kWanted));
  }

  // To be called after every key was asked for.
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

  std::vector<int64_t> numbers(const toml::node& node, const char* key, const char* wanted) const {
    if (!node.is_array()) fail(node, key, wanted);
    std::vector<int64_t> values;
    for (const auto& element : *node.as_array()) {
      const auto value = element.value_exact<int64_t>();
      if (!value) fail(node, key, wanted);
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
    std::ostringstream found;
    node.visit([&](const auto& value) {
      if constexpr (!toml::is_table<decltype(value)>) found << value;
    });
    throw ConfigError(fmt::format("{}: {} should be {}, found {}", place(source_, node),
                                  key == name_ ? key : full(name_, key), wanted,
                                  node.is_table() ? "a table" : found.str()));
  }

  void refuse_unless_known(const std::string& table, const std::string& key, const toml::node& node) const {
    const auto& keys = known_.at(table);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) return;
    const auto nearest = nearest_name(key, keys);
    refuse(node, fmt::format("key {}", full(table, key)), nearest.empty() ? nearest : full(table, nearest));
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
  read(parsed(toml.name, toml.text, true), visit);
  for (const auto& override_text : overrides) read(parsed_override(override_text), visit);
}

void read_toml(const std::filesystem::path& path, const std::vector<std::string>& overrides, const FieldsVisit& visit) {
  read_toml(load_toml(path), overrides, visit);
}

}  // namespace priornet
