#pragma once

#include <priornet/learning/catalogue.h>
#include <priornet/learning/progress.h>

#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

/// One thing that was checked.
struct Finding {
  std::string what;   ///< a file's path, or "train: 60000 images"
  std::string fault;  ///< empty where nothing is wrong
  std::string note;   ///< what else is to be said: "no checksum is known"
};

/// Checks the set's known files that are below the root for size and checksum, and reads every part that is there from
/// its original files. A NAME.gz that was compressed again counts as whole where it expands to the known bytes.
/// Nothing where nothing of the set is there.
std::vector<Finding> verify_set(const CatalogueEntry& entry, const std::filesystem::path& root, Progress& progress);

}  // namespace priornet
