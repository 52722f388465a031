#include "learning/data/column_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

namespace priornet {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool is_any_of(std::string_view value, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return value.size() == word.size() &&
           std::equal(value.begin(), value.end(), word.begin(), [](char a, char b) { return lower(a) == b; });
  });
}

}  // namespace

bool is_missing_value(std::string_view value) {
  if (value.empty() || value == "None") return true;  // but "none" may be a real category
  constexpr size_t kLongest = 4;
  return value.size() <= kLongest && !is_digit(value.back()) &&
         is_any_of(value, {"?", "na", "n/a", "nan", "-nan", "null", "<na>", "#n/a", "#na"});
}

std::optional<double> parse_number(std::string_view value, bool decimal_comma) {
  if (value.starts_with('+')) value.remove_prefix(1);
  if (value.empty()) return std::nullopt;
  const auto unsigned_part = value.substr(value[0] == '-' ? 1 : 0);
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
  if (error == std::errc::result_out_of_range) number = std::strtod(std::string(value).c_str(), nullptr);
  if (std::abs(number) > std::numeric_limits<float>::max()) return std::nullopt;
  return number;
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
    while (letters < left_.size() && lower(left_[letters]) >= 'a' && lower(left_[letters]) <= 'z') ++letters;
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

}  // namespace priornet
