#pragma once

#include <cctype>
#include <string>

namespace priornet {

/// With the letters of ASCII in lower case.
inline std::string lower_case(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace priornet
