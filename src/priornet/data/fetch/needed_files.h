#pragma once

#include <priornet/core/progress.h>
#include <priornet/data/catalogue/entry.h>

#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

/// The published files from which the named parts of a set are read; with no names, all parts but one called "extra".
/// ArgumentError for a part that the entry lacks.
std::vector<KnownFile> needed_files(const CatalogueEntry& entry, const std::vector<std::string>& parts);

struct FilesState {
  std::vector<KnownFile> missing;  ///< not there, or not whole; neither is what they expand to
  bool laid_out_by_hand = false;   ///< the set is there in files of which nothing is known: none are missing
};

/// Reads and checks what is there below the data root, wherever the entry's locations allow it to lie.
FilesState state_of(const CatalogueEntry& entry, const std::vector<KnownFile>& needed,
                    const std::filesystem::path& root, Progress& progress);

}  // namespace priornet
