#include "learning/sets/table_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "learning/base/names.h"
#include "learning/data/column_types.h"
#include "learning/data/csv.h"
#include "learning/data/delimited.h"
#include "learning/data/file_tree.h"

namespace priornet {
namespace {

// Not codes with leading zeros (007), and not whole numbers that float64 would merge.
std::optional<std::vector<double>> as_numbers(const std::vector<std::string>& texts) {
  constexpr double kLargestWhole = 9007199254740992;  // 2^53
  std::vector<double> numbers;
  for (const auto& text : texts) {
    double number = 0;
    if (!parse_number(text, /*decimal_comma=*/false) || parse_csv_number(text, number) != ParsedNumber::kNumber ||
        !(std::abs(number) < kLargestWhole))
      return std::nullopt;
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

constexpr size_t kNone = static_cast<size_t>(-1);

// Names, levels and classes go into JSON, in runs and model files, and JSON must be UTF-8.
constexpr const char* kNotUtf8 = "is not UTF-8: save the table as UTF-8";

// `encoding`: that of the model whose columns the table should have, or null.
std::vector<std::string> read_names(DelimitedRows& rows, const TableEncoding* encoding) {
  if (!rows.next()) throw DataError(fmt::format("{}: is empty", rows.name()));
  for (size_t i = 0; i < rows.values().size(); ++i)
    if (!is_utf8(rows.values()[i])) throw DataError(fmt::format("{}: a name {}", rows.place(i + 1), kNotUtf8));
  auto names = rows.names();
  if (are_numbers(names) && !(encoding != nullptr && names_all(names, encoding->column_names())))
    throw DataError(fmt::format("{}: line 1 is all numbers: wanted the names of the columns", rows.name()));
  // Later inputs are matched by these names.
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw DataError(twice->empty() ? fmt::format("{}: two columns have no name", rows.name())
                                   : fmt::format("{}: two columns have the name {}", rows.name(), *twice));
  return names;
}

size_t column_named(const std::string& table, const std::vector<std::string>& names, const std::string& wanted) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end())
    throw DataError(fmt::format("{}: has no column {}; its columns: {}", table, wanted, fmt::join(names, ", ")));
  return static_cast<size_t>(found - names.begin());
}

class TableReader {
 public:
  TableReader(OpenTable open, const TableOptions& options) : open_(std::move(open)), options_(options) {}

  Dataset read() {
    auto encoding = std::make_shared<TableEncoding>();
    if (options_.encoding != nullptr) {
      *encoding = *options_.encoding;
      visit([&](const DelimitedRows&) { ++rows_; });
    } else {
      *encoding = found_encoding();
    }
    check_rows();
    Dataset set{name_, encoded(*encoding), {}, {}, encoding->feature_names()};
    set.encoding = encoding;
    if (label_ != kNone) add_labels(set);
    if (unlabelled_ > 0)
      say(unlabelled_ == 1 ? "1 row without a label is left out"
                           : fmt::format("{} rows without a label are left out", unlabelled_));
    return set;
  }

 private:
  [[noreturn]] void throw_changed() const {
    throw DataError(fmt::format("{}: changed while it was read: try again when nothing writes to it", name_));
  }

  void say(const std::string& what) const {
    if (options_.notes != nullptr) options_.notes->push_back(fmt::format("{}: {}", name_, what));
  }

  bool is_left_out(const DelimitedRows& rows) const {
    return label_ != kNone && is_missing_value(rows.values()[label_]);
  }

  // Visits the rows that have a label, or all rows if labels are not wanted.
  template <class Visitor>
  void visit(const Visitor& visitor) {
    const auto stream = open_();
    DelimitedRows rows(*stream);
    name_ = rows.name();
    auto names = read_names(rows, options_.encoding);
    if (!names_.empty() && names != names_) throw_changed();
    names_ = std::move(names);
    separator_ = rows.separator();
    label_ = options_.label.empty() ? kNone : column_named(name_, names_, options_.label);
    unlabelled_ = 0;
    while (rows.next()) {
      rows.check_length(names_.size());
      if (is_left_out(rows))
        ++unlabelled_;
      else
        visitor(rows);
    }
  }

  std::optional<ColumnType> wanted_type(const std::string& name) const {
    const auto lists = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (lists(options_.drop)) return ColumnType::kDropped;
    if (lists(options_.categorical)) return ColumnType::kCategory;
    if (lists(options_.numeric)) return ColumnType::kNumber;
    return std::nullopt;
  }

  void check_wanted() const {
    for (const auto* list : {&options_.drop, &options_.categorical, &options_.numeric})
      for (const auto& name : *list)
        if (column_named(name_, names_, name) == label_)
          throw DataError(fmt::format("{}: {} is the label, so it cannot be an input", name_, name));
  }

  void check_rows() const {
    if (rows_ == 0 && unlabelled_ > 0)
      throw DataError(
          fmt::format("{}: none of its {} rows has a label in column {}", name_, unlabelled_, options_.label));
    if (rows_ == 0) throw DataError(fmt::format("{}: holds no rows after the names of the columns", name_));
  }

  TableEncoding found_encoding() {
    std::vector<ColumnFacts> facts;
    visit([&](const DelimitedRows& rows) {
      if (facts.empty()) facts.resize(names_.size(), ColumnFacts(takes_decimal_comma()));
      for (size_t c = 0; c < facts.size(); ++c)
        if (c != label_) facts[c].add(rows.values()[c]);
      ++rows_;
    });
    check_wanted();
    facts.resize(names_.size());
    check_rows();
    TableEncoding encoding;
    encoding.decimal_comma = takes_decimal_comma();
    std::vector<std::pair<size_t, size_t>> recount;  // columns of the table and of the encoding
    for (size_t c = 0; c < names_.size(); ++c) {
      if (c == label_) continue;
      encoding.columns.push_back(facts[c].column(names_[c], wanted_type(names_[c])));
      if (const auto step = facts[c].coarse_step(); step && encoding.columns.back().type == ColumnType::kNumber)
        say(fmt::format("column {}: {}: networks tell such numbers apart only in steps of {:.3g}: subtract a constant",
                        names_[c], encoding.columns.back().summary, *step));
      if (encoding.columns.back().type != ColumnType::kCategory) continue;
      if (facts[c].has_numbers())
        recount.emplace_back(c, encoding.columns.size() - 1);
      else
        choose_levels(encoding.columns.back(), facts[c].texts(), rows_);
    }
    count_levels(recount, encoding);
    if (encoding.width() == 0)
      throw DataError(encoding.columns.empty()
                          ? fmt::format("{}: has no column beside the label", name_)
                          : fmt::format("{}: no column is left to learn from: {}", name_, reasons(encoding)));
    check_levels(encoding);
    return encoding;
  }

  bool takes_decimal_comma() const { return has_decimal_commas(separator_); }

  static std::string reasons(const TableEncoding& encoding) {
    std::vector<std::string> reasons;
    for (size_t c = 0; c < encoding.columns.size(); ++c)
      reasons.push_back(fmt::format("{} ({})", encoding.shown_name(c), encoding.columns[c].summary));
    return fmt::format("{}", fmt::join(reasons, ", "));
  }

  // For columns of names that look like numbers.
  void count_levels(const std::vector<std::pair<size_t, size_t>>& columns, TableEncoding& encoding) {
    if (columns.empty()) return;
    std::vector<LevelCounts> counts(columns.size());
    visit([&](const DelimitedRows& rows) {
      for (size_t i = 0; i < columns.size(); ++i) {
        const auto value = rows.values()[columns[i].first];
        if (!is_missing_value(value)) counts[i].add(value);
      }
    });
    for (size_t i = 0; i < columns.size(); ++i) choose_levels(encoding.columns[columns[i].second], counts[i], rows_);
  }

  void check_levels(const TableEncoding& encoding) const {
    for (const auto& column : encoding.columns)
      for (const auto& level : column.levels)
        if (!is_utf8(level)) throw DataError(fmt::format("{}: a value of column {} {}", name_, column.name, kNotUtf8));
  }

  // Also notes the labels and, for an encoding that was found here, the replacements for missing values.
  torch::Tensor encoded(TableEncoding& encoding) {
    const auto width = encoding.width();
    auto inputs = torch::empty({rows_, width}, torch::kFloat32);
    auto* row = inputs.data_ptr<float>();
    const auto* end = row + rows_ * width;
    std::unique_ptr<RowEncoder> encoder;
    std::vector<EncodingRemark> remarks;
    const bool is_model = options_.encoding != nullptr;
    std::vector<int64_t> remarked(encoding.columns.size(), 0);
    visit([&](const DelimitedRows& rows) {
      if (!encoder) encoder = encoder_for(encoding);
      if (row == end) throw_changed();
      encoder->encode(rows.values(), row, is_model ? &remarks : nullptr, !is_model);
      for (const auto& remark : remarks) {
        const auto& column = encoding.columns[remark.column];
        if (remarked[remark.column]++ == 0 && !is_absent(*encoder, column.name)) examples_.push_back(remark);
      }
      remarks.clear();
      if (label_ != kNone) add_label(rows);
      row += width;
    });
    if (row != end) throw_changed();
    if (!is_model) fill_gaps(encoding, inputs);
    if (is_model && !encoder->absent_columns().empty())
      say(fmt::format("lacks columns of the model, which count as missing: {}",
                      fmt::join(encoder->absent_columns(), ", ")));
    for (const auto& example : examples_)
      say(fmt::format("{} ({} {})", to_text(example, encoding), remarked[example.column],
                      remarked[example.column] == 1 ? "row" : "rows"));
    return inputs;
  }

  static bool is_absent(const RowEncoder& encoder, const std::string& column) {
    const auto& absent = encoder.absent_columns();
    return std::find(absent.begin(), absent.end(), column) != absent.end();
  }

  std::unique_ptr<RowEncoder> encoder_for(const TableEncoding& encoding) const {
    try {
      return std::make_unique<RowEncoder>(encoding, names_, takes_decimal_comma());
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: {}", name_, error.what()));
    }
  }

  // Missing numbers, truth values and days are NaN until the median of the others is known.
  static void fill_gaps(TableEncoding& encoding, const torch::Tensor& inputs) {
    int64_t feature = 0;
    for (auto& column : encoding.columns) {
      const auto values = column.features() == 0 ? torch::Tensor() : inputs.select(1, feature);
      feature += column.features();
      const bool has_value = column.type == ColumnType::kNumber || column.type == ColumnType::kBoolean ||
                             (column.type == ColumnType::kDate && column.has_date);
      if (column.type == ColumnType::kDate && column.marks_missing && !column.has_date) values.nan_to_num_(0.0);
      if (!has_value) continue;
      const auto there = values.masked_select(values.isfinite());
      column.fill = there.numel() == 0 ? 0.0 : there.median().item<double>();
      if (column.marks_missing)
        values.copy_(torch::where(values.isnan(), torch::full_like(values, column.fill), values));
      if (column.type == ColumnType::kNumber) column.summary += fmt::format(", median {:.6g}", column.fill);
    }
  }

  void add_label(const DelimitedRows& rows) {
    const auto label = rows.values()[label_];
    const auto found = label_numbers_.find(std::string(label));
    if (found != label_numbers_.end()) {
      labels_.push_back(found->second);
      return;
    }
    if (!is_utf8(label)) throw DataError(fmt::format("{}: a label {}", rows.place(label_ + 1), kNotUtf8));
    auto shown = printable(label);  // under which it is one class, however it is written
    const auto [place, is_new] = label_numbers_.try_emplace(shown, static_cast<int32_t>(label_texts_.size()));
    const auto number = place->second;
    if (is_new) label_texts_.push_back(std::move(shown));
    label_numbers_.try_emplace(std::string(label), number);
    labels_.push_back(number);
  }

  void add_labels(Dataset& set) {
    auto classes = classes_of(label_texts_);
    set.labels = classes.labels.index_select(0, torch::tensor(labels_, torch::kInt32));
    set.class_names = std::move(classes.names);
  }

  OpenTable open_;
  const TableOptions& options_;
  std::string name_;
  std::vector<std::string> names_;
  char separator_ = ',';
  size_t label_ = kNone;
  int64_t rows_ = 0;
  int64_t unlabelled_ = 0;
  std::vector<EncodingRemark> examples_;  ///< one per column
  std::unordered_map<std::string, int32_t> label_numbers_;
  std::vector<std::string> label_texts_;
  std::vector<int32_t> labels_;
};

}  // namespace

Dataset read_table(const OpenTable& open, const TableOptions& options) { return TableReader(open, options).read(); }

Dataset read_table(const std::filesystem::path& path, const TableOptions& options) {
  return read_table([&] { return open_file(path); }, options);
}

Dataset read_table(const std::string& name, std::string_view text, const TableOptions& options) {
  return read_table([&] { return std::make_unique<MemoryStream>(name, text); }, options);
}

}  // namespace priornet
