#include "learning/base/names.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace priornet {
namespace {

// "CIFAR_10" is as near to "cifar10" as can be.
std::string simplified(std::string_view name) {
  std::string letters;
  for (const unsigned char c : name)
    if (std::isalnum(c) != 0) letters.push_back(static_cast<char>(std::tolower(c)));
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

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
  const auto wanted = simplified(name);
  std::string nearest;
  size_t least = std::max<size_t>(2, wanted.size() / 3) + 1;  // two: letters that changed places
  for (const auto& candidate : names) {
    const auto distance = edit_distance(wanted, simplified(candidate));
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace priornet
