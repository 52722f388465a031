#include "learning/base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace priornet {
namespace {

bool begins_character(char byte) { return (byte & 0xc0) != 0x80; }

// "CIFAR_10" counts as equal to "cifar10".
std::string simplified(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) letters.push_back(lower_case(c));
  return letters;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t exchanged = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({exchanged, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// The code point at the beginning of `text` and how many bytes it takes; none if the bytes are not UTF-8.
std::optional<std::pair<char32_t, size_t>> code_point(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t size = byte(0) < 0x80   ? 1
                      : byte(0) < 0xc2 ? 0
                      : byte(0) < 0xe0 ? 2
                      : byte(0) < 0xf0 ? 3
                      : byte(0) < 0xf5 ? 4
                                       : 0;
  if (size == 0 || size > text.size()) return std::nullopt;
  if (size == 1) return std::pair(char32_t{byte(0)}, size);
  char32_t code = byte(0) & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return std::nullopt;
  return std::pair(code, size);
}

bool is_invisible(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto found = code_point(text);
    if (!found) return false;
    text.remove_prefix(found->second);
  }
  return true;
}

std::string printable(std::string_view text, std::string_view keep) {
  std::string result;
  while (!text.empty()) {
    const auto found = code_point(text);
    const auto part = text.substr(0, found ? found->second : 1);
    if (!found)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (!is_invisible(found->first) || (part.size() == 1 && keep.find(part[0]) != std::string_view::npos))
      result += part;
    else if (found->first == '\n')
      result += "\\n";
    else if (found->first == '\r')
      result += "\\r";
    else if (found->first == '\t')
      result += "\\t";
    else
      result += found->first < 0x100 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(found->first))
                                     : fmt::format("\\u{:04x}", static_cast<uint32_t>(found->first));
    text.remove_prefix(part.size());
  }
  return result;
}

std::string fault_of_class_names(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const auto& name : names) {
    if (name.empty()) return "has a class without a name";
    if (const auto shown = printable(name); shown != name)
      return fmt::format("has a class with control characters in its name: {}", shown);
    if (!seen.insert(name).second) return fmt::format("has two classes with the name {}", name);
  }
  return {};
}

std::string count_of(int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : noun.ends_with('s') ? "es" : "s");
}

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_to(std::string_view text, size_t width) {
  if (width_of(text) <= width) return std::string(text);
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++end)
    if (begins_character(text[end]) && ++count == width) break;
  return std::string(text.substr(0, end)) + "…";
}

std::string without_name(const std::string& message, const std::string& name) {
  return message.starts_with(name + ": ") ? message.substr(name.size() + 2) : message;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
  const auto wanted = simplified(name);
  std::string nearest;
  size_t least = std::max<size_t>(2, wanted.size() / 3) + 1;  // two: swapped letters
  for (const auto& candidate : names) {
    const auto distance = edit_distance(wanted, simplified(candidate));
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

void add_new_names(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const auto& name : more)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace priornet
