#include <priornet/learning/catalogue.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "learning/base/file_io.h"
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

const CatalogueEntry& entry_named(std::string_view name) {
  if (const auto* entry = find_named(catalogue(), name)) return *entry;
  const auto names = names_of(catalogue());
  throw DataError(fmt::format("there is no data set named {}{} (there are {}; a path is written with a / or a .)", name,
                              suggestion(name, names), fmt::join(names, ", ")));
}

const Split& split_named(const CatalogueEntry& entry, std::string_view name) {
  if (name.empty()) return entry.splits.front();
  if (const auto* split = find_named(entry.splits, name)) return *split;
  const auto names = names_of(entry.splits);
  throw DataError(fmt::format("{} has no split named {}{} (it has {})", entry.name, name, suggestion(name, names),
                              fmt::join(names, ", ")));
}

const SetPart& part_named(const CatalogueEntry& entry, std::string_view name) {
  if (const auto* part = find_named(entry.parts, name)) return *part;
  throw DataError(fmt::format("{} has no part named {}", entry.name, name));
}

std::vector<std::string> digit_names() { return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}; }

Split whole_part(const SetPart& part, std::string from) {
  return {part.name, part.count, std::move(from), {{part.name, 0, part.count}}};
}

namespace fs = std::filesystem;
namespace {

// Looks for each name as it is, compressed, and as an archive of its own.
std::optional<fs::path> variant_in(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const auto* ending : {"", ".gz", ".zip"})
    if (auto path = folder / (name + ending); fs::exists(path, ignored)) return path;
  return std::nullopt;
}

fs::path below(const fs::path& root, const Location& location) {
  return location.path == "." ? root : root / location.path;
}

bool is_there(const Location& location, const fs::path& root) {
  std::error_code ignored;
  const auto path = below(root, location);
  if (location.contains.empty()) return fs::exists(path, ignored);
  return fs::is_directory(path, ignored) &&
         std::any_of(location.contains.begin(), location.contains.end(),
                     [&](const std::string& name) { return variant_in(path, name).has_value(); });
}

void add_files(const fs::path& path, std::vector<fs::path>& files) {
  if (!fs::is_directory(path)) {
    files.push_back(path);
    return;
  }
  // A folder that nobody may enter is the reader's to report.
  for (const auto& entry : fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied))
    if (entry.is_regular_file()) files.push_back(entry.path());
}

}  // namespace

fs::path data_root(const Environment& environment) {
  const auto value = [&](const char* name) {
    const char* text = environment(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const auto own = value("PRIORNET_DATA"); !own.empty()) return own;
  if (const auto shared = value("XDG_DATA_HOME"); !shared.empty()) return fs::path(shared) / "priornet";
  if (const auto home = value("HOME"); !home.empty()) return fs::path(home) / ".local" / "share" / "priornet";
  throw DataError("no folder for data sets: set PRIORNET_DATA (XDG_DATA_HOME and HOME are not set either)");
}

fs::path data_root() {
  return data_root([](const char* name) { return std::getenv(name); });
}

std::optional<fs::path> find_location(const CatalogueEntry& entry, const fs::path& root) {
  for (const auto& location : entry.locations)
    if (is_there(location, root)) return below(root, location);
  return std::nullopt;
}

std::optional<fs::path> find_location(const CatalogueEntry& entry, const SetPart& part, const fs::path& root) {
  for (const auto& location : entry.locations) {
    if (!is_there(location, root)) continue;
    auto path = below(root, location);
    std::error_code ignored;
    if (!fs::is_directory(path, ignored) ||
        std::all_of(part.files.begin(), part.files.end(),
                    [&](const std::string& name) { return variant_in(path, name).has_value(); }))
      return path;
  }
  return std::nullopt;
}

std::optional<fs::path> find_file(const CatalogueEntry& entry, const KnownFile& file, const fs::path& root) {
  const auto name = fs::path(file.path).filename();
  std::vector<fs::path> places = {root / file.path};
  for (const auto& location : entry.locations) {
    if (fs::path(location.path).filename() == name) places.push_back(below(root, location));
    if (is_there(location, root)) places.push_back(below(root, location) / name);
  }
  std::error_code ignored;
  for (auto& place : places)
    if (fs::is_regular_file(place, ignored)) return place;
  return std::nullopt;
}

std::vector<fs::path> source_files(const SetPart& part, const fs::path& location) {
  std::vector<fs::path> files;
  if (!fs::is_directory(location) || part.files.empty()) {
    add_files(location, files);
  } else {
    for (const auto& name : part.files)
      if (const auto path = variant_in(location, name)) add_files(*path, files);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string source_fingerprint(const fs::path& base, const std::vector<fs::path>& files) {
  std::string description;
  uintmax_t bytes = 0;
  for (const auto& file : files) {
    const auto size = fs::file_size(file);
    bytes += size;
    // lexically: the name of a link counts, not its target.
    description += fmt::format("{}\t{}\t{}\n", file.lexically_relative(base).generic_string(), size,
                               fs::last_write_time(file).time_since_epoch().count());
  }
  return fmt::format("{} files, {} bytes, {:016x}", files.size(), bytes, content_hash(description));
}

std::string layout_by_hand(const CatalogueEntry& entry, const fs::path& root) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& file : entry.files) {
    if (file.urls.empty()) continue;
    const auto path = root / file.path;
    names[path.parent_path().string()].push_back(path.filename().string());
  }
  std::vector<std::string> places;
  for (const auto& [folder, files] : names) places.push_back(fmt::format("{} into {}", fmt::join(files, ", "), folder));
  return fmt::format("put {}", fmt::join(places, "; "));
}

}  // namespace priornet
