#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/csv_lines.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace priornet {
namespace {

std::string_view trimmed(std::string_view field) {
  while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
  while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
  return field;
}

}  // namespace

std::string_view take_field(std::string_view& line, bool& more) {
  bool quoted = false;
  size_t end = 0;
  while (end < line.size() && (quoted || line[end] != ',')) quoted ^= line[end++] == '"';
  const auto field = line.substr(0, end);
  more = end < line.size();
  line.remove_prefix(more ? end + 1 : end);
  return field;
}

std::string csv_text(std::string_view field) {
  field = trimmed(field);
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string text;
  for (size_t i = 1; i + 1 < field.size(); ++i) {
    text.push_back(field[i]);
    if (field[i] == '"' && field[i + 1] == '"') ++i;  // a doubled quote stands for one
  }
  return text;
}

ParsedNumber parse_csv_number(std::string_view field, double& value) {
  field = trimmed(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2));
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  const auto* last = field.data() + field.size();
  const auto [end, error] = std::from_chars(field.data(), last, value);
  if (end != last || error == std::errc::invalid_argument) return ParsedNumber::kOther;
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(field).c_str(), nullptr);
  return error == std::errc::result_out_of_range && std::isinf(value) ? ParsedNumber::kTooLarge : ParsedNumber::kNumber;
}

FirstLine parse_first_line(std::string_view line) {
  FirstLine first;
  for (bool more = true; more;) {
    const auto field = take_field(line, more);
    double ignored = 0;
    first.is_numbers &= parse_csv_number(field, ignored) != ParsedNumber::kOther;
    first.fields.push_back(csv_text(field));
  }
  return first;
}

std::string shown_field(std::string_view field) {
  constexpr size_t kLongest = 40;
  field = trimmed(field);
  if (field.empty()) return "an empty value";
  return field.size() <= kLongest ? fmt::format("\"{}\"", field) : fmt::format("\"{}...\"", field.substr(0, kLongest));
}

CsvLines::CsvLines(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)), left_(text_) {
  if (left_.starts_with("\xEF\xBB\xBF")) left_.remove_prefix(3);
  const auto last = left_.find_last_not_of(" \t\r\n");
  left_ = left_.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (left_.empty()) throw DataError(fmt::format("{}: is empty", name_));
}

std::string_view CsvLines::next() {
  ++line_;
  const auto end = left_.find('\n');
  auto line = left_.substr(0, end);
  left_ = end == std::string_view::npos ? std::string_view{} : left_.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (trimmed(line).empty()) throw DataError(fmt::format("{}: line {} is blank", name_, line_));
  return line;
}

void CsvLines::check_length(std::string_view line, int64_t values_of_first) const {
  int64_t values = 0;
  for (bool more = true; more; ++values) take_field(line, more);
  if (values != values_of_first)
    throw DataError(fmt::format("{}: line {} has {} {}, line 1 has {}", name_, line_, values,
                                values == 1 ? "value" : "values", values_of_first));
}

std::string CsvLines::place(int64_t column) const {
  return fmt::format("{}: line {}, column {}", name_, line_, column);
}

}  // namespace priornet
