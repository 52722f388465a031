#include <priornet/core/lower_case.h>
#include <priornet/data/formats/image_collection.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace priornet {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits at the front, without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  auto number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  std::string_view left = a;
  std::string_view right = b;
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const auto one = take_number(left);
      const auto other = take_number(right);
      if (one.size() != other.size()) return one.size() < other.size();
      if (one != other) return one < other;
    } else {
      if (left.front() != right.front())
        return static_cast<unsigned char>(left.front()) < static_cast<unsigned char>(right.front());
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  return left.size() != right.size() ? left.size() < right.size() : a < b;
}

bool is_image_path(const std::string& path) {
  constexpr std::array<std::string_view, 4> kExtensions = {".png", ".jpg", ".jpeg", ".webp"};
  const auto name = lower_case(path.substr(path.rfind('/') + 1));
  if (name.starts_with(".") || path.starts_with("__MACOSX/")) return false;
  return std::any_of(kExtensions.begin(), kExtensions.end(), [&](auto extension) { return name.ends_with(extension); });
}

}  // namespace priornet
