#pragma once

#include <priornet/learning/table_encoding.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// What kind of values a column of a table holds, found from all of them.

namespace priornet {

/// Counts how often each text stands in a column, in bounded memory.
class LevelCounts {
 public:
  void add(std::string_view text);

  int64_t added() const { return added_; }
  /// How many different ones; of more than 65,536 an estimate, to a percent.
  int64_t distinct() const;
  /// Whether almost every text is different: names, free text, keys.
  bool differ_by_row() const;
  /// The most frequent first; of equally frequent ones, the smaller text.
  std::vector<std::pair<std::string, int64_t>> sorted() const;
  /// Whether `text` was counted before; call it before add().
  bool holds(std::string_view text) const { return counts_.find(text) != counts_.end(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  void make_room();

  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> counts_;
  std::vector<bool> seen_;  ///< once there are many: a bit per hash
  int64_t added_ = 0;
};

/// Counts which types the values of one column can be read as.
class ColumnFacts {
 public:
  explicit ColumnFacts(bool decimal_comma = false) : decimal_comma_(decimal_comma) {}

  void add(std::string_view value);

  /// The type that suits all values, or nearly all; `wanted`: what the user asked for.
  ColumnType type(const std::string& name, std::optional<ColumnType> wanted) const;

  /// The column, without its levels and the replacement for missing values.
  TableColumn column(const std::string& name, std::optional<ColumnType> wanted) const;

  /// Texts that are not numbers. If a category also has numbers among its values, those have to be counted again.
  const LevelCounts& texts() const { return texts_; }
  bool has_numbers() const { return numbers_ > 0; }

  /// If float32, which networks take, tells fewer than a thousand of the column's numbers apart, as of seconds since
  /// 1970 within one day: the step between those that it has there.
  std::optional<double> coarse_step() const;

 private:
  int64_t present() const { return values_ - missing_; }
  std::string reason_to_drop(const std::string& name) const;
  void add_number(double number);

  bool decimal_comma_;
  int64_t values_ = 0;
  int64_t missing_ = 0;
  int64_t numbers_ = 0;
  int64_t booleans_ = 0;
  int64_t dates_day_first_ = 0;
  int64_t dates_month_first_ = 0;
  bool has_date_ = false;
  bool has_time_ = false;
  double least_ = 0;
  double most_ = 0;
  bool all_differ_ = true;  ///< whole numbers, all different
  std::unordered_set<int64_t> seen_;
  LevelCounts texts_;
};

/// Gives a category its levels: those frequent enough to learn from, at most 32, and buckets for the others.
void choose_levels(TableColumn& column, const LevelCounts& counts, int64_t rows);

// How one value of a text table can be read.

/// Whether a value means "missing": nothing at all, NA, N/A, NaN, null, None, ?, and whatever pandas counts as missing.
bool is_missing_value(std::string_view value);

/// The finite number that a value is; with `decimal_comma`, 3,14 is a number too. Infinity and larger numbers count as
/// 1e30. Not a number: a code with leading zeros (007).
std::optional<double> parse_number(std::string_view value, bool decimal_comma);

/// true and false, yes and no, t and f, y and n, in either case.
std::optional<bool> parse_boolean(std::string_view value);

/// A day, a time of day, or both.
struct Moment {
  double days = 0;  ///< since the beginning of 1970; for a time alone, the part of the day
  bool has_date = false;
  bool has_time = false;
};

/// Whether 03/04/2024 is in April or in March.
enum class DateOrder { kDayFirst, kMonthFirst };

/// 2024-04-03, 2024/4/3, 03.04.2024, 03/04/2024, 3-Apr-2024, also followed by a time (after T or a space; with or
/// without seconds, AM and PM, Z or an offset); or a time alone, 17:45.
std::optional<Moment> parse_moment(std::string_view value, DateOrder order);

/// 2024-04-03, 2024-04-03 17:45, or 17:45: parse_moment() reads it again, to the minute.
std::string to_text(const Moment& moment);

}  // namespace priornet
