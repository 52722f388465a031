#pragma once

#include <torch/types.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <string>

namespace priornet::tool {

/// Adds --device auto|cpu|cuda.
void add_device_option(CLI::App& command, std::string& name, const std::string& what);

/// `auto` is a CUDA device where there is one. Error where `cuda` was asked for and there is none.
torch::Device chosen_device(const std::string& name);

// CLI11's own ranges let NaN pass, and print an end that is the largest double in all its digits.

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

/// The word as a shell reads it back, quoted where needed.
inline std::string shell_word(const std::string& word) {
  const bool plain =
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:=@%,") ==
          std::string::npos &&
      !word.empty();
  if (plain) return word;
  std::string quoted = "'";
  for (const char character : word) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

}  // namespace priornet::tool
