#include "learning/data/csv.h"

#include <fmt/format.h>
#include <locale.h>  // NOLINT: newlocale
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

#include "learning/base/file_io.h"
#include "learning/base/names.h"

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

double nearest_to_out_of_range(std::string_view number) {
  static const auto plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return ::strtod_l(std::string(number).c_str(), nullptr, plain);
}

ParsedNumber parse_csv_number(std::string_view field, double& value) {
  field = trimmed(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2));
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  const auto* last = field.data() + field.size();
  const auto [end, error] = std::from_chars(field.data(), last, value);
  if (end != last || error == std::errc::invalid_argument) return ParsedNumber::kOther;
  if (error == std::errc::result_out_of_range) value = nearest_to_out_of_range(field);
  return error == std::errc::result_out_of_range && std::isinf(value) ? ParsedNumber::kTooLarge : ParsedNumber::kNumber;
}

bool are_numbers(const std::vector<std::string>& fields) {
  double ignored = 0;
  return std::all_of(fields.begin(), fields.end(),
                     [&](const auto& field) { return parse_csv_number(field, ignored) != ParsedNumber::kOther; });
}

bool names_all(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  const auto is_there = [&](const auto& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return !wanted.empty() && std::all_of(wanted.begin(), wanted.end(), is_there);
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

namespace {

/// The content of a field, without spaces and quotes around it.
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

/// The fields of a first line, which are the names of the columns or all numbers.
struct FirstLine {
  std::vector<std::string> fields;
  bool is_numbers = true;
};

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

class NumberReader {
 public:
  NumberReader(const std::filesystem::path& path, const std::string& only, std::vector<std::string>* texts)
      : lines_(path.string(), InputFile(path).read_rest()), only_(only), texts_(texts) {}

  NumberTable read() {
    const auto first = lines_.next();
    auto [fields, is_numbers] = parse_first_line(first);
    columns_ = static_cast<int64_t>(fields.size());
    if (is_numbers)
      read_row(first);
    else
      names_ = std::move(fields);
    if (texts_ != nullptr && !names_.empty() && !lines_.at_end()) {
      const auto values = lines_.next();
      find_texts(values);
      read_row(values);
    }
    while (!lines_.at_end()) read_row(lines_.next());

    if (rows_ == 0) return {std::move(names_), torch::empty({0, columns_}, torch::kFloat64)};
    // The tensor takes over the numbers' memory; a copy would double it.
    auto* owner = numbers_.release();
    const auto release = [owner](void*) { delete owner; };
    auto values = torch::from_blob(owner->data(), {rows_, columns_}, release, torch::kFloat64);
    return without_texts({std::move(names_), std::move(values)});
  }

 private:
  void find_texts(std::string_view line) {
    for (bool more = true; more;) {
      double ignored = 0;
      is_text_.push_back(parse_csv_number(take_field(line, more), ignored) == ParsedNumber::kOther);
    }
    is_text_.resize(static_cast<size_t>(columns_), false);
  }

  NumberTable without_texts(NumberTable table) const {
    if (std::find(is_text_.begin(), is_text_.end(), true) == is_text_.end()) return table;
    NumberTable numbers;
    std::vector<int64_t> kept;
    for (size_t c = 0; c < is_text_.size(); ++c) {
      (is_text_[c] ? *texts_ : numbers.names).push_back(table.names[c]);
      if (!is_text_[c]) kept.push_back(static_cast<int64_t>(c));
    }
    numbers.values = table.values.index_select(1, torch::tensor(kept, torch::kInt64));
    return numbers;
  }

  void read_row(std::string_view line) {
    const auto whole = line;
    int64_t column = 0;
    for (bool more = true; more; ++column) {
      const auto field = take_field(line, more);
      double value = 0;
      const auto parsed = parse_csv_number(field, value);
      if (parsed != ParsedNumber::kNumber && !is_wanted(column)) {
        value = std::numeric_limits<double>::quiet_NaN();
      } else if (parsed != ParsedNumber::kNumber) {
        lines_.check_length(whole, columns_);  // the better explanation if both are wrong
        throw DataError(fmt::format("{}: {} {}", lines_.place(column + 1), shown_field(field),
                                    parsed == ParsedNumber::kOther ? "is not a number" : "is too large for a float64"));
      }
      numbers_->push_back(value);
    }
    if (column != columns_) lines_.check_length(whole, columns_);
    ++rows_;
  }

  bool is_wanted(int64_t column) const {
    if (static_cast<size_t>(column) < is_text_.size() && is_text_[static_cast<size_t>(column)]) return false;
    return only_.empty() || column >= columns_ || names_.empty() || names_[static_cast<size_t>(column)] == only_;
  }

  CsvLines lines_;
  const std::string& only_;
  std::vector<std::string>* texts_;
  std::vector<bool> is_text_;  ///< by column
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  std::vector<std::string> names_;
  std::unique_ptr<std::vector<double>> numbers_ = std::make_unique<std::vector<double>>();
};

}  // namespace

NumberTable read_csv(const std::filesystem::path& path, const std::string& only, std::vector<std::string>* texts) {
  return NumberReader(path, only, texts).read();
}

std::string csv_field(std::string_view given) {
  const auto text = printable(given);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace priornet
