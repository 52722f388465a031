#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/config/toml_writer.h>

#include <cmath>

namespace priornet {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  return out + '"';
}

// The shortest that reads back as the same, and as a number that need not be whole.
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
    text_ += fmt::format("{}[{}]  # {}\n", text_.empty() ? "" : "\n", name, what);
  }
  void flag(const char* key, bool& value, const char* what) override { line(key, value ? "true" : "false", what); }
  void whole(const char* key, int64_t& value, const Range&, const char* what) override {
    line(key, fmt::format("{}", value), what);
  }
  void number(const char* key, double& value, const Range&, const char* what) override {
    line(key, decimal(value), what);
  }
  void text(const char* key, std::string& value, const char* what) override { line(key, in_quotes(value), what); }
  void choice(const char* key, std::string& value, const std::vector<std::string>& choices, const char* what) override {
    line(key, in_quotes(value), fmt::format("{}: {}", what, fmt::join(choices, ", ")));
  }
  void list(const char* key, std::vector<int64_t>& value, const char* what) override {
    line(key, bracketed(value), what);
  }
  void lists(const char* key, std::vector<std::vector<int64_t>>& value, const char* what) override {
    std::vector<std::string> inner;
    for (const auto& values : value) inner.push_back(bracketed(values));
    line(key, fmt::format("[{}]", fmt::join(inner, ", ")), what);
  }

 private:
  // Asked of keys without a value.
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
