#pragma once

#include <string>

namespace priornet::tool {

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
