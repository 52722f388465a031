#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// With the letters of ASCII in lower case.
inline std::string lower_case(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// For terminals, tables and pages: control characters, line ends among them, bytes that are no UTF-8 and marks that
/// turn the direction of writing become visible, as \n, \x1b, \u202e. What stands in `keep` stays.
std::string printable(std::string_view text, std::string_view keep = "");

/// The name that is the fewest insertions, deletions and exchanges of letters away, if it is close enough to be what
/// was meant; else empty.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

}  // namespace priornet
