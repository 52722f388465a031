#pragma once

#include <CLI/CLI.hpp>

#include <cmath>
#include <limits>
#include <string>

// CLI11's own ranges let NaN pass, and print an end that is the largest double in all its digits.

namespace priornet::tool {

/// What is no number at all is left to the option's type.
inline CLI::Validator finite_number(const std::string& shown, const std::string& wanted, double least) {
  return CLI::Validator(
      [wanted, least](std::string& text) {
        double value = 0;
        if (!CLI::detail::lexical_cast(text, value) || (std::isfinite(value) && value >= least)) return std::string();
        return "should be " + wanted + ", found " + text;
      },
      shown);
}

inline const auto kFinite = finite_number("", "a finite number", std::numeric_limits<double>::lowest());
inline const auto kNotNegative = finite_number("NONNEGATIVE", "a number of at least 0", 0);
inline const auto kPositive = finite_number("POSITIVE", "a number above 0", std::numeric_limits<double>::denorm_min());

}  // namespace priornet::tool
