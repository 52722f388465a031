#pragma once

#include <optional>
#include <string_view>

// How one value of a text table can be read.

namespace priornet {

/// Whether a value means "missing": nothing at all, NA, N/A, NaN, null, None, ?, and whatever pandas counts as missing.
bool is_missing_value(std::string_view value);

/// The finite number that a value is; with `decimal_comma`, 3,14 is a number too. Not a number: a code with leading
/// zeros (007), infinity, values beyond float32.
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

}  // namespace priornet
