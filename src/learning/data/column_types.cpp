#include "learning/data/column_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include "learning/base/names.h"
#include "learning/data/csv.h"

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
  if (counts_.size() == kMostDistinct) make_room();
  if (!seen_.empty()) seen_[Hash()(text) % seen_.size()] = true;
  if (counts_.size() < kMostDistinct) counts_.emplace(text, 1);
}

// Forgets the texts that came once: a frequent one that comes late is counted from then on.
void LevelCounts::make_room() {
  constexpr size_t kBits = size_t{1} << 22;
  if (seen_.empty()) {
    seen_.resize(kBits);
    for (const auto& [text, count] : counts_) seen_[Hash()(text) % kBits] = true;
  }
  std::erase_if(counts_, [](const auto& level) { return level.second == 1; });
}

int64_t LevelCounts::distinct() const {
  if (seen_.empty()) return static_cast<int64_t>(counts_.size());
  const auto bits = static_cast<double>(seen_.size());
  const auto unset = static_cast<double>(std::count(seen_.begin(), seen_.end(), false));
  return std::llround(bits * std::log(bits / std::max(1.0, unset)));  // some share their bit
}

bool LevelCounts::differ_by_row() const {
  return added_ >= kFewRows && static_cast<double>(distinct()) > kDifferByRow * static_cast<double>(added_);
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
  else
    all_differ_ = !seen_.contains(static_cast<int64_t>(number));
  if (!all_differ_) std::unordered_set<int64_t>().swap(seen_);
}

std::optional<double> ColumnFacts::coarse_step() const {
  constexpr double kValues = 1000;
  if (numbers_ == 0 || least_ == most_) return std::nullopt;
  const auto step = std::ldexp(1.0, std::ilogb(std::max(std::abs(least_), std::abs(most_))) - 23);
  if (most_ - least_ >= kValues * step) return std::nullopt;
  return step;
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
  auto rows_left = counts.added();
  for (const auto& [level, count] : counts.sorted()) {
    if (count < least || column.levels.size() == kMostLevels) break;  // the others are not more frequent
    column.levels.push_back(level);
    rows_left -= count;
  }
  const auto left = counts.distinct() - static_cast<int64_t>(column.levels.size());
  constexpr int64_t kFewLevels = 8;
  column.buckets = left == 0            ? 0
                   : left <= kFewLevels ? 1
                                        : std::clamp(rows_left / kRowsPerBucket, int64_t{1}, kMostBuckets);
  constexpr size_t kShown = 4;
  std::vector<std::string> shown;
  for (size_t l = 0; l < std::min(kShown, column.levels.size()); ++l) shown.push_back(printable(column.levels[l]));
  if (shown.empty()) {
    column.summary = fmt::format("{} levels, all of them rare", counts.distinct());
    return;
  }
  column.summary = fmt::format("{} levels: {}{}", counts.distinct(), fmt::join(shown, ", "),
                               counts.distinct() > static_cast<int64_t>(shown.size()) ? ", ..." : "");
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_any_of(std::string_view value, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return value.size() == word.size() &&
           std::equal(value.begin(), value.end(), word.begin(), [](char a, char b) { return lower_case(a) == b; });
  });
}

}  // namespace

bool is_missing_value(std::string_view value) {
  if (value.empty() || value == "None") return true;  // but "none" may be a real category
  constexpr size_t kLongest = 8;
  return value.size() <= kLongest && !is_digit(value.back()) &&
         is_any_of(value, {"?", "na", "n/a", "nan", "-nan", "null", "<na>", "#n/a", "#na", "#n/a n/a", "1.#ind",
                           "-1.#ind", "1.#qnan", "-1.#qnan"});
}

std::optional<double> parse_number(std::string_view value, bool decimal_comma) {
  // A larger number, or an infinite one, counts as this one: it is strange, not missing. Divided by the deviation of
  // its column, float32 still holds it.
  constexpr double kLargestNumber = 1e30;
  if (value.starts_with('+')) value.remove_prefix(1);
  if (value.empty()) return std::nullopt;
  const auto unsigned_part = value.substr(value[0] == '-' ? 1 : 0);
  if (is_any_of(unsigned_part, {"inf", "infinity"})) return value[0] == '-' ? -kLargestNumber : kLargestNumber;
  if (unsigned_part.empty() || !(is_digit(unsigned_part[0]) || unsigned_part[0] == '.' || unsigned_part[0] == ','))
    return std::nullopt;
  if (unsigned_part.size() > 1 && unsigned_part[0] == '0' && is_digit(unsigned_part[1])) return std::nullopt;
  std::string with_point;
  if (decimal_comma && value.find(',') != std::string_view::npos) {
    with_point = value;
    std::replace(with_point.begin(), with_point.end(), ',', '.');
    value = with_point;
  }
  double number = 0;
  const auto* last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, number);
  if (end != last) return std::nullopt;
  if (error == std::errc::result_out_of_range) number = nearest_to_out_of_range(value);
  return std::clamp(number, -kLargestNumber, kLargestNumber);
}

std::optional<bool> parse_boolean(std::string_view value) {
  if (is_any_of(value, {"true", "yes", "t", "y"})) return true;
  if (is_any_of(value, {"false", "no", "f", "n"})) return false;
  return std::nullopt;
}

namespace {

// The parts of a date or a time, taken off the front of a text.
class MomentText {
 public:
  explicit MomentText(std::string_view text) : left_(text) {}

  bool at_end() const { return left_.empty(); }
  char front() const { return left_.empty() ? '\0' : left_[0]; }
  bool take(char c) {
    if (front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  void skip_spaces() {
    while (take(' ')) {
    }
  }

  /// A whole number of up to `most` digits, or -1.
  int number(size_t most, size_t* digits = nullptr) {
    int value = 0;
    size_t count = 0;
    for (; count < left_.size() && is_digit(left_[count]); ++count) {
      if (count == most) return -1;
      value = 10 * value + (left_[count] - '0');
    }
    left_.remove_prefix(count);
    if (digits != nullptr) *digits = count;
    return count == 0 ? -1 : value;
  }

  /// 1 to 12 of a month's name or its first three letters, or -1.
  int month() {
    constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                          "may",       "june",     "july",     "august",
                                                          "september", "october",  "november", "december"};
    size_t letters = 0;
    while (letters < left_.size() && lower_case(left_[letters]) >= 'a' && lower_case(left_[letters]) <= 'z') ++letters;
    const auto word = left_.substr(0, letters);
    for (size_t m = 0; m < kMonths.size(); ++m)
      if (is_any_of(word, {kMonths[m], kMonths[m].substr(0, 3)})) {
        left_.remove_prefix(letters);
        return static_cast<int>(m) + 1;
      }
    return -1;
  }

  /// Whether one of the two words follows; takes it.
  bool word(std::string_view either) {
    if (left_.size() < either.size() || !is_any_of(left_.substr(0, either.size()), {either})) return false;
    left_.remove_prefix(either.size());
    return true;
  }

 private:
  std::string_view left_;
};

struct Date {
  int year;
  int month;
  int day;
};

std::optional<double> days_of(const Date& date) {
  if (date.year < 0 || date.month < 1 || date.day < 1) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(date.year),
                                        std::chrono::month(static_cast<unsigned>(date.month)),
                                        std::chrono::day(static_cast<unsigned>(date.day))};
  if (!day.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(day).time_since_epoch().count());
}

int whole_year(int year, size_t digits) {
  if (digits == 4) return year;
  return digits == 2 ? (year < 70 ? 2000 : 1900) + year : -1;
}

std::optional<double> take_date(MomentText& text, DateOrder order) {
  size_t first_digits = 0;
  const int first = text.number(4, &first_digits);
  const char separator = text.front();
  if (first < 0 || (separator != '-' && separator != '/' && separator != '.' && separator != ' ')) return std::nullopt;
  text.take(separator);
  const bool named = !is_digit(text.front());
  if (separator == ' ' && !named) return std::nullopt;
  const int second = named ? text.month() : text.number(2);
  if (second < 0 || !text.take(separator)) return std::nullopt;
  if (first_digits == 4) return days_of({first, second, text.number(2)});
  size_t last_digits = 0;
  const int last = text.number(4, &last_digits);
  const auto year = whole_year(last, last_digits);
  if (named || separator == '.' || order == DateOrder::kDayFirst) return days_of({year, second, first});
  return days_of({year, first, second});
}

// Z, +01:00, -0730: in days.
std::optional<double> take_offset(MomentText& text) {
  if (text.take('Z') || text.take('z') || text.at_end()) return 0;
  const double sign = text.front() == '-' ? -1 : 1;
  if (!text.take('-') && !text.take('+')) return std::nullopt;
  size_t digits = 0;
  int hours = text.number(4, &digits);
  int minutes = 0;
  if (digits == 4) {
    minutes = hours % 100;
    hours /= 100;
  } else if (text.take(':')) {
    minutes = text.number(2);
  }
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return sign * (hours * 60 + minutes) / 1440.0;
}

// As a part of the day, up to the end of the text.
std::optional<double> take_time(MomentText& text) {
  int hour = text.number(2);
  if (hour < 0 || !text.take(':')) return std::nullopt;
  const int minute = text.number(2);
  double second = 0;
  if (text.take(':')) {
    second = text.number(2);
    size_t digits = 0;
    if (second >= 0 && text.take('.')) {
      const int fraction = text.number(9, &digits);
      if (fraction < 0) return std::nullopt;
      second += fraction / std::pow(10.0, static_cast<double>(digits));
    }
  }
  text.skip_spaces();
  const bool is_pm = text.word("pm");
  const bool is_am = !is_pm && text.word("am");
  if (is_pm || is_am) {
    if (hour < 1 || hour > 12) return std::nullopt;
    hour = hour % 12 + (is_pm ? 12 : 0);
  }
  const auto offset = take_offset(text);
  if (!offset || !text.at_end() || hour > 23 || minute < 0 || minute > 59 || second < 0 || second >= 61)
    return std::nullopt;
  return (hour * 3600 + minute * 60 + second) / 86400.0 - *offset;
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view value, DateOrder order) {
  constexpr size_t kLongest = 40;
  if (value.size() < 4 || value.size() > kLongest || !is_digit(value[0])) return std::nullopt;
  MomentText time_alone(value);
  if (value[1] == ':' || value[2] == ':') {
    const auto time = take_time(time_alone);
    return time ? std::optional(Moment{*time, false, true}) : std::nullopt;
  }
  MomentText text(value);
  const auto date = take_date(text, order);
  if (!date) return std::nullopt;
  if (text.at_end()) return Moment{*date, true, false};
  if (!text.take('T') && !text.take('t') && text.front() != ' ') return std::nullopt;
  text.skip_spaces();
  const auto time = take_time(text);
  return time ? std::optional(Moment{*date + *time, true, true}) : std::nullopt;
}

std::string to_text(const Moment& moment) {
  constexpr double kMinutes = 24 * 60;
  constexpr double kMostDays = 2.9e6;  // the year 9900: no date beyond it is read
  if (!(std::abs(moment.days) < kMostDays)) return fmt::format("{:g} days", moment.days);
  // To the minute: a float32 of days since 1970 knows no more.
  const auto days = moment.has_time ? std::round(moment.days * kMinutes) / kMinutes : moment.days;
  const auto whole = std::floor(days + 1e-9);
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(static_cast<int>(whole)))};
  const auto minutes = std::lround((days - whole) * kMinutes);
  const auto day = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                               static_cast<unsigned>(date.day()));
  const auto time = fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
  return !moment.has_time ? day : !moment.has_date ? time : day + " " + time;
}

}  // namespace priornet
