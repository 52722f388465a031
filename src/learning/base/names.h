#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// ASCII letters in lower case, in any locale: in a Turkish one std::tolower leaves I as it is.
constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
inline std::string lower_case(std::string text) {
  for (auto& c : text) c = lower_case(c);
  return text;
}

bool is_utf8(std::string_view text);

/// For terminals, tables and pages: control characters (line ends too), bytes that are not UTF-8, and marks that change
/// the direction of writing become visible, as \n, \x1b, \u202e. Characters in `keep` stay.
std::string printable(std::string_view text, std::string_view keep = "");

/// What is wrong with the names of classes, such as "has two classes with the name cat"; empty if nothing is. Names are
/// shown to people: each must tell its class apart, and hold nothing else.
std::string fault_of_class_names(const std::vector<std::string>& names);

/// "1 input", "2 inputs", "2 classes".
std::string count_of(int64_t number, std::string_view noun);

/// Code points of UTF-8, which for Latin and Greek letters are columns of a terminal.
size_t width_of(std::string_view text);

/// The text, or the start of a longer one and an ellipsis, so wide at most.
std::string cut_to(std::string_view text, size_t width);

/// A message without the name that it begins with: "a.png: is empty" becomes "is empty".
std::string without_name(const std::string& message, const std::string& name);

/// The name with the fewest inserted, deleted and changed letters, if it is close enough to be what the user meant;
/// else empty.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

/// Adds those of `more` that are not among the names yet, in their order.
void add_new_names(std::vector<std::string>& names, const std::vector<std::string>& more);

}  // namespace priornet
