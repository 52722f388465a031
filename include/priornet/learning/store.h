#pragma once

#include <priornet/learning/catalogue.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

// Where data sets lie: below one folder, the data root, as they were got or as somebody laid them out by hand.

namespace priornet {

/// The value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;

/// $PRIORNET_DATA, else $XDG_DATA_HOME/priornet, else ~/.local/share/priornet; an empty variable counts as unset.
/// DataError where there is no home folder either. The folder need not exist.
std::filesystem::path data_root();
std::filesystem::path data_root(const Environment& environment);

/// The first of the entry's locations that is there.
std::optional<std::filesystem::path> find_location(const CatalogueEntry& entry, const std::filesystem::path& root);

/// The first of the entry's locations that holds all files of the part: an archive is believed to.
std::optional<std::filesystem::path> find_location(const CatalogueEntry& entry, const SetPart& part,
                                                   const std::filesystem::path& root);

/// A published file, or what it expands to, wherever it lies in the entry's locations.
std::optional<std::filesystem::path> find_file(const CatalogueEntry& entry, const KnownFile& file,
                                               const std::filesystem::path& root);

/// The files a part is read from: the archive itself, or those in the folder, sorted.
std::vector<std::filesystem::path> source_files(const SetPart& part, const std::filesystem::path& location);

/// What changes when the files do: a hash of their paths below `base`, their sizes and the times of their last change.
std::string source_fingerprint(const std::filesystem::path& base, const std::vector<std::filesystem::path>& files);

/// Which published files go where for the set to be found: "put train-images-idx3-ubyte.gz, ... into DATA/mnist".
std::string layout_by_hand(const CatalogueEntry& entry, const std::filesystem::path& root);

}  // namespace priornet
