#include "learning/data/column_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "learning/base/names.h"
#include "learning/data/column_values.h"

namespace priornet {
namespace {

constexpr size_t kMostDistinct = size_t{1} << 16;
constexpr int64_t kFewRows = 20;     // with fewer, that every value differs says nothing
constexpr double kNearlyAll = 0.95;  // of the values: a column of numbers may hold a few dashes
constexpr double kDifferByRow = 0.9;
constexpr size_t kMostLevels = 32;
constexpr int64_t kMostBuckets = 32;
constexpr int64_t kRowsPerBucket = 100;

// Rows that a level needs for a feature of its own: from rarer levels a network learns chance.
int64_t least_rows_of_level(int64_t rows) {
  constexpr int64_t kAlways = 3;
  constexpr int64_t kEnough = 20;
  return std::max({kAlways, std::min(kEnough, rows / 100), rows / 2000});
}

bool nearly(int64_t some, int64_t all) {
  return some == all || (all >= kFewRows && static_cast<double>(some) >= kNearlyAll * static_cast<double>(all));
}

// customer_id, CustomerID, id, index, and pandas' name for a column without a name.
bool is_name_of_key(const std::string& name) {
  const auto small = lower_case(name);
  for (const auto* word : {"", "id", "index", "key", "uuid", "guid", "row", "rownames", "no", "nr", "number", "#"})
    if (small == word) return true;
  if (small.starts_with("unnamed")) return true;
  const auto before = name.size() - 3;
  return small.ends_with("_id") || small.ends_with(" id") || small.ends_with("-id") ||
         (name.size() > 2 && name[before + 1] == 'I' && small.ends_with("id") && name[before] >= 'a');
}

}  // namespace

void LevelCounts::add(std::string_view text) {
  ++added_;
  const auto found = counts_.find(text);
  if (found != counts_.end()) {
    ++found->second;
    return;
  }
  if (counts_.size() < kMostDistinct) counts_.emplace(text, 1);
  if (counts_.size() == kMostDistinct && added_when_full_ == 0) added_when_full_ = added_;
}

bool LevelCounts::differ_by_row() const {
  const auto added = added_when_full_ > 0 ? added_when_full_ : added_;
  return added >= kFewRows && static_cast<double>(counts_.size()) > kDifferByRow * static_cast<double>(added);
}

std::vector<std::pair<std::string, int64_t>> LevelCounts::sorted() const {
  std::vector<std::pair<std::string, int64_t>> levels(counts_.begin(), counts_.end());
  std::sort(levels.begin(), levels.end(), [](const auto& one, const auto& other) {
    return one.second != other.second ? one.second > other.second : one.first < other.first;
  });
  return levels;
}

void ColumnFacts::add(std::string_view value) {
  ++values_;
  if (is_missing_value(value)) {
    ++missing_;
    return;
  }
  if (const auto number = parse_number(value, decimal_comma_)) return add_number(*number);
  texts_.add(value);
  if (parse_boolean(value)) ++booleans_;
  const auto day_first = parse_moment(value, DateOrder::kDayFirst);
  const auto month_first = parse_moment(value, DateOrder::kMonthFirst);
  if (!day_first && !month_first) return;
  if (day_first) ++dates_day_first_;
  if (month_first) ++dates_month_first_;
  const auto& moment = day_first ? *day_first : *month_first;
  has_date_ = has_date_ || moment.has_date;
  has_time_ = has_time_ || moment.has_time;
}

void ColumnFacts::add_number(double number) {
  least_ = numbers_ == 0 ? number : std::min(least_, number);
  most_ = numbers_ == 0 ? number : std::max(most_, number);
  ++numbers_;
  if (!all_differ_) return;
  constexpr double kLargestWhole = 1e15;
  if (std::abs(number) > kLargestWhole || number != std::floor(number))
    all_differ_ = false;
  else if (seen_.size() < kMostDistinct)
    all_differ_ = seen_.insert(static_cast<int64_t>(number)).second;
  if (!all_differ_) std::unordered_set<int64_t>().swap(seen_);
}

std::string ColumnFacts::reason_to_drop(const std::string& name) const {
  if (present() == 0) return "empty";
  const bool only_numbers = numbers_ == present();
  if (missing_ == 0 && only_numbers && least_ == most_) return "the same number in every row";
  if (missing_ == 0 && numbers_ == 0 && texts_.distinct() == 1) return "the same text in every row";
  if (only_numbers && all_differ_ && numbers_ >= kFewRows && is_name_of_key(name))
    return "a different number in every row";
  const bool is_date = nearly(std::max(dates_day_first_, dates_month_first_), present());
  if (!nearly(numbers_, present()) && !is_date && texts_.differ_by_row()) return "a different text in almost every row";
  return "";
}

ColumnType ColumnFacts::type(const std::string& name, std::optional<ColumnType> wanted) const {
  if (present() == 0) return ColumnType::kDropped;
  if (wanted) return *wanted;
  if (!reason_to_drop(name).empty()) return ColumnType::kDropped;
  if (nearly(numbers_, present())) return ColumnType::kNumber;
  if (booleans_ == present()) return ColumnType::kBoolean;
  if (nearly(std::max(dates_day_first_, dates_month_first_), present())) return ColumnType::kDate;
  return ColumnType::kCategory;
}

TableColumn ColumnFacts::column(const std::string& name, std::optional<ColumnType> wanted) const {
  TableColumn column;
  column.name = name;
  column.type = type(name, wanted);
  column.missing = missing_;
  int64_t others = 0;  // than the type says
  switch (column.type) {
    case ColumnType::kDropped: {
      const auto reason = reason_to_drop(name);
      column.summary = wanted == ColumnType::kDropped ? "as asked" : reason;
      break;
    }
    case ColumnType::kNumber:
      others = present() - numbers_;
      column.summary = fmt::format("{:.6g} to {:.6g}", least_, most_);
      break;
    case ColumnType::kDate:
      column.has_date = has_date_;
      column.has_time = has_time_;
      column.day_first = dates_day_first_ > dates_month_first_;
      others = present() - std::max(dates_day_first_, dates_month_first_);
      column.summary = has_date_ && has_time_ ? "dates with times" : has_date_ ? "dates" : "times of day";
      break;
    case ColumnType::kBoolean:
      column.summary = "true or false";
      break;
    case ColumnType::kCategory:
      break;
  }
  if (others > 0)
    column.summary += fmt::format("; {} other {} as missing", others, others == 1 ? "value counts" : "values count");
  column.missing += others;
  column.marks_missing = column.missing > 0 && column.type != ColumnType::kDropped;
  return column;
}

void choose_levels(TableColumn& column, const LevelCounts& counts, int64_t rows) {
  const auto least = least_rows_of_level(rows);
  int64_t rows_left = 0;
  for (const auto& [level, count] : counts.sorted()) {
    if (count >= least && column.levels.size() < kMostLevels)
      column.levels.push_back(level);
    else
      rows_left += count;
  }
  const auto left = counts.distinct() - static_cast<int64_t>(column.levels.size());
  constexpr int64_t kFewLevels = 8;
  column.buckets = left == 0            ? 0
                   : left <= kFewLevels ? 1
                                        : std::clamp(rows_left / kRowsPerBucket, int64_t{1}, kMostBuckets);
  constexpr size_t kShown = 4;
  const auto shown = std::vector<std::string>(
      column.levels.begin(), column.levels.begin() + static_cast<int64_t>(std::min(kShown, column.levels.size())));
  if (shown.empty()) {
    column.summary = fmt::format("{} levels, all of them rare", counts.distinct());
    return;
  }
  column.summary = fmt::format("{} levels: {}{}", counts.distinct(), fmt::join(shown, ", "),
                               counts.distinct() > static_cast<int64_t>(shown.size()) ? ", ..." : "");
}

}  // namespace priornet
