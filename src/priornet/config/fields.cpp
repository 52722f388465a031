#include <fmt/format.h>
#include <priornet/config/fields.h>

#include <cmath>

namespace priornet {

bool Range::holds(double value) const {
  return (value > low || (with_low && value == low)) && (value < high || (with_high && value == high));
}

std::string to_text(const Range& range) {
  if (std::isinf(range.low) && std::isinf(range.high)) return "a number";
  if (std::isinf(range.high)) return fmt::format("{} {:g}", range.with_low ? "at least" : "above", range.low);
  if (std::isinf(range.low)) return fmt::format("{} {:g}", range.with_high ? "at most" : "below", range.high);
  return fmt::format("in {}{:g}, {:g}{}", range.with_low ? '[' : '(', range.low, range.high,
                     range.with_high ? ']' : ')');
}

}  // namespace priornet
