#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace priornet {

/// The number rounded to so many digits, so that it is short as text. strtod, unlike stod, takes the smallest ones too.
inline double short_number(double value, int digits) {
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

inline std::vector<double> short_numbers(std::vector<double> values, int digits) {
  for (auto& value : values) value = short_number(value, digits);
  return values;
}

}  // namespace priornet
