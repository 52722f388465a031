#include <priornet/learning/catalogue.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/base/names.h"
#include "learning/sets/families.h"

namespace priornet {
namespace {

std::vector<CatalogueEntry> all_entries() {
  std::vector<CatalogueEntry> entries = mnist_like_sets();
  entries.push_back(emnist_set());
  for (auto& set : cifar_sets()) entries.push_back(std::move(set));
  entries.push_back(svhn_set());
  entries.push_back(omniglot_set());
  entries.push_back(semeion_set());
  entries.push_back(tiny_imagenet_set());
  entries.push_back(lsun_set());
  entries.push_back(cifar10h_set());
  entries.push_back(openood_set());
  return entries;
}

template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.name);
  return names;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
  const auto nearest = nearest_name(name, names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = all_entries();
  return entries;
}

bool in_catalogue(std::string_view name) { return find_named(catalogue(), name) != nullptr; }

const CatalogueEntry& find_entry(std::string_view name) {
  if (const auto* entry = find_named(catalogue(), name)) return *entry;
  const auto names = names_of(catalogue());
  throw DataError(fmt::format("there is no data set named {}{} (there are {}; a path is written with a / or a .)", name,
                              suggestion(name, names), fmt::join(names, ", ")));
}

const Split& find_split(const CatalogueEntry& entry, std::string_view name) {
  if (name.empty()) return entry.splits.front();
  if (const auto* split = find_named(entry.splits, name)) return *split;
  const auto names = names_of(entry.splits);
  throw DataError(fmt::format("{} has no split named {}{} (it has {})", entry.name, name, suggestion(name, names),
                              fmt::join(names, ", ")));
}

const SetPart& find_part(const CatalogueEntry& entry, std::string_view name) {
  if (const auto* part = find_named(entry.parts, name)) return *part;
  throw DataError(fmt::format("{} has no part named {}", entry.name, name));
}

std::vector<std::string> digit_names() { return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}; }

Split whole_part(const SetPart& part, std::string from) {
  return {part.name, part.count, std::move(from), {{part.name, 0, part.count}}};
}

}  // namespace priornet
