#include "tool/downloads/verify.h"

#include <fmt/format.h>
#include <priornet/learning/store.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/data/file_tree.h"
#include "learning/sets/path_set.h"
#include "tool/downloads/checksum.h"
#include "tool/downloads/download.h"

namespace priornet {
namespace {

namespace fs = std::filesystem;

// Of what a .gz file expands to.
std::string expanded_fault(const KnownFile& expanded, const fs::path& path) {
  const auto bytes = open_file(path);
  Checksum checksum(expanded.sha256.empty() ? Digest::kMd5 : Digest::kSha256);
  std::string buffer(size_t{1} << 20, '\0');
  int64_t size = 0;
  while (const auto count = bytes->read(buffer.data(), buffer.size())) {
    checksum.add({buffer.data(), count});
    size += static_cast<int64_t>(count);
  }
  return fault_of(expanded, size, checksum.hexadecimal());
}

const KnownFile* expanded_of(const CatalogueEntry& entry, const KnownFile& file) {
  const auto found = std::find_if(entry.files.begin(), entry.files.end(),
                                  [&](const KnownFile& other) { return other.path + ".gz" == file.path; });
  return found == entry.files.end() ? nullptr : &*found;
}

Finding check_file(const CatalogueEntry& entry, const KnownFile& file, const fs::path& path, Progress& progress) {
  Finding finding{path.string(), "", has_checksum(file) ? "" : "no checksum is known"};
  try {
    finding.fault = fault_of(file, path, progress);
    const auto* expanded = expanded_of(entry, file);
    if (!finding.fault.empty() && expanded != nullptr && expanded_fault(*expanded, path).empty()) {
      finding.fault.clear();
      finding.note = "compressed otherwise than published; expands to the published bytes";
    }
  } catch (const DataError& error) {
    finding.fault = error.what();
  }
  return finding;
}

Finding check_part(const CatalogueEntry& entry, const SetPart& part, const fs::path& root, const fs::path& location,
                   Progress& progress) {
  const auto task = fmt::format("reading {} {}", entry.name, part.name);
  Finding finding{fmt::format("{}: {} images", part.name, part.count), "", ""};
  progress.report(task, 0, 1);
  try {
    const auto set = part.choose ? read_chosen_rows(part, location, {root}) : part.read(location, part.resize);
    check_dataset(set);
    if (set.size() != part.count) finding.fault = fmt::format("holds {} images", set.size());
  } catch (const DataError& error) {
    finding.fault = error.what();
  }
  progress.report(task, 1, 1);
  return finding;
}

}  // namespace

std::vector<Finding> verify_set(const CatalogueEntry& entry, const fs::path& root, Progress& progress) {
  std::vector<Finding> findings;
  for (const auto& file : entry.files)
    if (const auto path = find_file(entry, file, root)) findings.push_back(check_file(entry, file, *path, progress));
  for (const auto& part : entry.parts)
    if (const auto location = find_location(entry, part, root))
      findings.push_back(check_part(entry, part, root, *location, progress));
  return findings;
}

}  // namespace priornet
