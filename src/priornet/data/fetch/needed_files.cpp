#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/store.h>
#include <priornet/data/fetch/needed_files.h>
#include <priornet/data/fetch/wholeness.h>

#include <algorithm>

namespace priornet {
namespace {

constexpr auto kOnlyIfAskedFor = "extra";

bool is_published(const KnownFile& file) { return !file.urls.empty(); }

bool reads(const SetPart& part, const KnownFile& file) {
  const auto name = std::filesystem::path(file.path).filename().string();
  return std::any_of(part.files.begin(), part.files.end(), [&](const std::string& wanted) {
    return name == wanted || name == wanted + ".gz" || name == wanted + ".zip";
  });
}

bool is_whole(const CatalogueEntry& entry, const KnownFile& file, const std::filesystem::path& root,
              Progress& progress) {
  const auto path = find_file(entry, file, root);
  return path && fault_of(file, *path, progress).empty();
}

// X of a published X.gz, where it is known.
const KnownFile* expansion_of(const CatalogueEntry& entry, const KnownFile& file) {
  for (const auto& other : entry.files)
    if (!is_published(other) && other.path + ".gz" == file.path) return &other;
  return nullptr;
}

// What an archive expands to lies under names of its own.
bool archive_is_expanded(const CatalogueEntry& entry, const std::filesystem::path& root, Progress& progress) {
  int64_t count = 0;
  for (const auto& file : entry.files) {
    if (is_published(file)) continue;
    if (!is_whole(entry, file, root, progress)) return false;
    ++count;
  }
  return count > 0;
}

bool nothing_known_is_there(const CatalogueEntry& entry, const std::filesystem::path& root) {
  return std::none_of(entry.files.begin(), entry.files.end(),
                      [&](const KnownFile& file) { return find_file(entry, file, root).has_value(); });
}

}  // namespace

std::vector<KnownFile> needed_files(const CatalogueEntry& entry, const std::vector<std::string>& parts) {
  for (const auto& name : parts)
    if (std::none_of(entry.parts.begin(), entry.parts.end(), [&](const SetPart& part) { return part.name == name; }))
      throw ArgumentError(fmt::format("{} has no part called {}", entry.name, name));
  std::vector<KnownFile> needed;
  for (const auto& file : entry.files) {
    if (!is_published(file)) continue;
    bool in_a_part = false;
    bool asked_for = false;
    for (const auto& part : entry.parts) {
      if (!reads(part, file)) continue;
      in_a_part = true;
      asked_for |= parts.empty() ? part.name != kOnlyIfAskedFor
                                 : std::find(parts.begin(), parts.end(), part.name) != parts.end();
    }
    if (asked_for || !in_a_part) needed.push_back(file);  // an archive holds all parts
  }
  return needed;
}

FilesState state_of(const CatalogueEntry& entry, const std::vector<KnownFile>& needed,
                    const std::filesystem::path& root, Progress& progress) {
  FilesState state;
  if (nothing_known_is_there(entry, root)) {
    state.laid_out_by_hand = find_location(entry, root).has_value();
    if (!state.laid_out_by_hand) state.missing = needed;
    return state;
  }
  for (const auto& file : needed) {
    const auto* expansion = expansion_of(entry, file);
    if (!is_whole(entry, file, root, progress) &&
        (expansion == nullptr || !is_whole(entry, *expansion, root, progress)))
      state.missing.push_back(file);
  }
  if (!state.missing.empty() && archive_is_expanded(entry, root, progress)) state.missing.clear();
  return state;
}

}  // namespace priornet
