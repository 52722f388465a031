#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/data/arrays/csv.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>

namespace priornet {
namespace {

std::string_view trimmed(std::string_view field) {
  while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
  while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
  return field;
}

// Takes the field up to the next comma outside quotes off the front of the line. `more` says whether a comma followed.
std::string_view take_field(std::string_view& line, bool& more) {
  bool quoted = false;
  size_t end = 0;
  while (end < line.size() && (quoted || line[end] != ',')) quoted ^= line[end++] == '"';
  const auto field = line.substr(0, end);
  more = end < line.size();
  line.remove_prefix(more ? end + 1 : end);
  return field;
}

std::string unquoted(std::string_view field) {
  field = trimmed(field);
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string text;
  for (size_t i = 1; i + 1 < field.size(); ++i) {
    text.push_back(field[i]);
    if (field[i] == '"' && field[i + 1] == '"') ++i;  // a doubled quote stands for one
  }
  return text;
}

enum class Parsed { kNumber, kTooLarge, kOther };

Parsed parse_number(std::string_view field, double& value) {
  field = trimmed(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2));
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  const auto* last = field.data() + field.size();
  const auto [end, error] = std::from_chars(field.data(), last, value);
  if (end != last || error == std::errc::invalid_argument) return Parsed::kOther;
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(field).c_str(), nullptr);
  return error == std::errc::result_out_of_range && std::isinf(value) ? Parsed::kTooLarge : Parsed::kNumber;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : name_(path.string()), text_(InputFile(path).read_rest()) {}

  NumberTable read() {
    left_ = text_;
    if (left_.starts_with("\xEF\xBB\xBF")) left_.remove_prefix(3);
    const auto last = left_.find_last_not_of(" \t\r\n");
    left_ = left_.substr(0, last == std::string_view::npos ? 0 : last + 1);
    if (left_.empty()) throw DataError(fmt::format("{}: is empty", name_));

    const auto first = next_line();
    read_header(first);
    if (names_.empty()) read_row(first);
    while (!left_.empty()) read_row(next_line());

    if (rows_ == 0) return {std::move(names_), torch::empty({0, columns_}, torch::kFloat64)};
    // The tensor takes the numbers over; a copy would double the memory.
    auto* owner = numbers_.release();
    const auto release = [owner](void*) { delete owner; };
    return {std::move(names_), torch::from_blob(owner->data(), {rows_, columns_}, release, torch::kFloat64)};
  }

 private:
  std::string_view next_line() {
    ++line_;
    const auto end = left_.find('\n');
    auto line = left_.substr(0, end);
    left_ = end == std::string_view::npos ? std::string_view{} : left_.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  // Sets the number of columns, and the names if the line is a header.
  void read_header(std::string_view line) {
    bool numbers = true;
    std::vector<std::string> names;
    for (bool more = true; more;) {
      const auto field = take_field(line, more);
      double ignored = 0;
      numbers &= parse_number(field, ignored) != Parsed::kOther;
      names.push_back(unquoted(field));
    }
    columns_ = static_cast<int64_t>(names.size());
    if (!numbers) names_ = std::move(names);
  }

  void read_row(std::string_view line) {
    if (trimmed(line).empty() && !left_.empty()) throw DataError(fmt::format("{}: line {} is blank", name_, line_));
    const auto whole = line;
    int64_t column = 0;
    for (bool more = true; more; ++column) {
      const auto field = take_field(line, more);
      double value = 0;
      const auto parsed = parse_number(field, value);
      if (parsed != Parsed::kNumber) {
        check_length(whole);  // the better explanation, where both are wrong
        throw DataError(fmt::format("{}: line {}, column {}: {} {}", name_, line_, column + 1, shown(field),
                                    parsed == Parsed::kOther ? "is not a number" : "is too large for a float64"));
      }
      numbers_->push_back(value);
    }
    if (column != columns_) check_length(whole);
    ++rows_;
  }

  void check_length(std::string_view line) const {
    int64_t values = 0;
    for (bool more = true; more; ++values) take_field(line, more);
    if (values != columns_)
      throw DataError(fmt::format("{}: line {} has {} {}, line 1 has {}", name_, line_, values,
                                  values == 1 ? "value" : "values", columns_));
  }

  static std::string shown(std::string_view field) {
    constexpr size_t kLongest = 40;
    field = trimmed(field);
    if (field.empty()) return "an empty value";
    return field.size() <= kLongest ? fmt::format("\"{}\"", field)
                                    : fmt::format("\"{}...\"", field.substr(0, kLongest));
  }

  std::string name_;
  std::string text_;
  std::string_view left_;
  int64_t line_ = 0;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  std::vector<std::string> names_;
  std::unique_ptr<std::vector<double>> numbers_ = std::make_unique<std::vector<double>>();
};

}  // namespace

NumberTable read_csv(const std::filesystem::path& path) { return Reader(path).read(); }

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace priornet
