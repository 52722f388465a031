#include "learning/sets/table_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "learning/data/csv.h"
#include "learning/data/file_tree.h"

namespace priornet {
namespace {

std::optional<std::vector<double>> as_numbers(const std::vector<std::string>& texts) {
  std::vector<double> numbers;
  for (const auto& text : texts) {
    double number = 0;
    if (parse_csv_number(text, number) != ParsedNumber::kNumber || !std::isfinite(number)) return std::nullopt;
    numbers.push_back(number == 0 ? 0 : number);  // no -0
  }
  return numbers;
}

template <typename Value>
LabelClasses classes_among(const std::vector<Value>& values) {
  auto distinct = values;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  LabelClasses classes{torch::empty(static_cast<int64_t>(values.size()), torch::kInt64), {}};
  auto* label = classes.labels.data_ptr<int64_t>();
  for (const auto& value : values)
    *label++ = std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin();
  for (const auto& value : distinct) classes.names.push_back(fmt::format("{}", value));
  return classes;
}

}  // namespace

LabelClasses classes_of(const std::vector<std::string>& texts) {
  const auto numbers = as_numbers(texts);
  return numbers ? classes_among(*numbers) : classes_among(texts);
}

namespace {

constexpr int64_t kLargestTable = int64_t{64} << 30;
constexpr int64_t kNone = -1;

// Names and classes go into JSON, in runs and model files, which holds nothing else.
constexpr const char* kNotUtf8 = "is not UTF-8: the table should be saved as that";

bool is_utf8(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; })) return true;
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::vector<std::string> read_names(CsvLines& lines) {
  auto [names, is_numbers] = parse_first_line(lines.next());
  for (size_t i = 0; i < names.size(); ++i)
    if (!is_utf8(names[i]))
      throw DataError(fmt::format("{}: a name {}", lines.place(static_cast<int64_t>(i) + 1), kNotUtf8));
  if (is_numbers)
    throw DataError(fmt::format("{}: line 1 is all numbers: wanted the names of the columns", lines.name()));
  // Whoever asks a model later is understood by these names.
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw DataError(twice->empty() ? fmt::format("{}: two columns have no name", lines.name())
                                   : fmt::format("{}: two columns are called {}", lines.name(), *twice));
  return names;
}

int64_t find_label(const std::string& name, const std::vector<std::string>& names, const std::string& label) {
  if (label.empty()) return kNone;
  const auto found = std::find(names.begin(), names.end(), label);
  if (found == names.end() && names.size() == 1 && names[0].find_first_of(";\t") != std::string::npos)
    throw DataError(fmt::format("{}: should have commas between its values, line 1 has {}", name,
                                names[0].find(';') != std::string::npos ? "semicolons" : "tabs"));
  if (found == names.end())
    throw DataError(fmt::format("{}: has no column {}; its columns: {}", name, label, fmt::join(names, ", ")));
  return found - names.begin();
}

class TableReader {
 public:
  TableReader(CsvLines& lines, int64_t columns, int64_t label) : lines_(lines), columns_(columns), label_(label) {}

  void read_row(std::string_view line) {
    const auto whole = line;
    int64_t column = 0;
    for (bool more = true; more; ++column) {
      const auto field = take_field(line, more);
      const auto problem = column == label_ ? take_label(field) : take_number(field);
      if (problem == nullptr) continue;
      lines_.check_length(whole, columns_);  // the better explanation, where both are wrong
      throw DataError(fmt::format("{}: {} {}", lines_.place(column + 1),
                                  problem == kNotUtf8 ? "a label" : shown_field(field), problem));
    }
    if (column != columns_) lines_.check_length(whole, columns_);
    ++rows;
  }

  std::vector<float> numbers;
  std::vector<std::string> labels;
  int64_t rows = 0;

 private:
  // Each returns what is wrong, if anything.
  const char* take_label(std::string_view field) {
    labels.push_back(csv_text(field));
    if (!is_utf8(labels.back())) return kNotUtf8;
    return labels.back().empty() ? "is no label" : nullptr;
  }

  const char* take_number(std::string_view field) {
    double value = 0;
    const auto parsed = parse_csv_number(field, value);
    if (parsed == ParsedNumber::kOther)
      return label_ == kNone ? "is not a number; a column of classes is named by ,label=COLUMN" : "is not a number";
    if (parsed == ParsedNumber::kTooLarge ||
        (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()))
      return "is too large for a float32";
    if (!std::isfinite(value)) return "is not finite";
    numbers.push_back(static_cast<float>(value));
    return nullptr;
  }

  CsvLines& lines_;
  int64_t columns_;
  int64_t label_;
};

}  // namespace

Dataset read_table(const std::filesystem::path& path, const TableOptions& options) {
  return read_table(*open_file(path), options);
}

Dataset read_table(ByteStream& bytes, const TableOptions& options) {
  CsvLines lines(bytes.name(), bytes.read_rest(kLargestTable));
  auto names = read_names(lines);
  const auto label = find_label(bytes.name(), names, options.label);
  const auto columns = static_cast<int64_t>(names.size());
  TableReader reader(lines, columns, label);
  while (!lines.at_end()) reader.read_row(lines.next());
  if (reader.rows == 0) throw DataError(fmt::format("{}: holds no rows after the names of the columns", bytes.name()));
  if (label != kNone) names.erase(names.begin() + label);
  if (names.empty()) throw DataError(fmt::format("{}: has no column beside the label", bytes.name()));

  Dataset set{bytes.name(), torch::tensor(reader.numbers).view({reader.rows, -1}), {}, {}, std::move(names)};
  if (label != kNone) {
    auto classes = classes_of(reader.labels);
    set.labels = std::move(classes.labels);
    set.class_names = std::move(classes.names);
  }
  return set;
}

}  // namespace priornet
