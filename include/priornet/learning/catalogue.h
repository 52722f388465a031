#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/resize.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// A file as its authors publish it.
struct KnownFile {
  std::string path;               ///< under the data root: "mnist/train-images-idx3-ubyte.gz"
  int64_t size = 0;               ///< in bytes; 0 where unknown
  std::string sha256;             ///< in hexadecimal; empty where unknown
  std::string md5;                ///< if there is no sha256
  std::vector<std::string> urls;  ///< the official source, then mirrors; empty for a file that is only unpacked from
                                  ///< others
};

/// A part of a set that is read as a whole and kept as one prepared copy: "the training file".
struct SetPart {
  std::string name;   ///< "train"
  int64_t count = 0;  ///< how many rows it holds
  /// The files (with or without .gz) and folders that it is read from, in the set's folder; all are needed.
  std::vector<std::string> files;
  std::vector<std::string> class_names;  ///< empty if the files hold the names, or if there are none
  /// Images of many sizes become this size on reading, unless another is asked for.
  std::optional<ResizeOptions> resize;
  /// `location` is the folder or archive; `resize` is as above, or nothing where the images have one size.
  std::function<Dataset(const std::filesystem::path& location, const std::optional<ResizeOptions>& resize)> read;
  /// If the part is a selection of rows of another set: the name of that set ("cifar10:test"). The files of the part
  /// say which rows: `choose`, used instead of `read`, returns them, int64 [count].
  std::string chosen_from = {};
  std::function<torch::Tensor(const std::filesystem::path& location, const Dataset& whole)> choose = {};
};

/// The rows first, first + 1, ..., first + count - 1 of a part.
struct PartRows {
  std::string part;
  int64_t first = 0;
  int64_t count = 0;
};

/// A set as the paper uses it: rows of parts, one after the other.
struct Split {
  std::string name;   ///< "train", "validation", "test"
  int64_t count = 0;  ///< how many rows it holds
  std::string from;   ///< in a few words: "the first 5,000 of the training file"
  std::vector<PartRows> rows;
};

/// Where a set may lie below the data root: a folder, an archive, a file.
struct Location {
  std::string path;                   ///< "cifar-10-batches-bin", "cifar-10-binary.tar.gz"
  std::vector<std::string> contains;  ///< for a folder: it holds at least one of these paths (or one with .gz)
};

struct CatalogueEntry {
  std::string name;                 ///< "fashion-mnist"
  std::string title;                ///< "Fashion-MNIST: 10 kinds of clothing, 28x28 grey"
  std::string homepage;             ///< its authors' web page
  std::string terms;                ///< its licence, or what its authors ask
  bool show_terms = false;          ///< its use is restricted: tell the user who downloads it
  std::vector<KnownFile> files;     ///< the published ones, and those unpacked from them where they are known
  std::vector<Location> locations;  ///< in the order of preference
  std::vector<SetPart> parts;
  std::vector<Split> splits;  ///< the first is the one meant if none is named
};

/// The data sets known by name: those of the paper, Fashion-MNIST, KMNIST and EMNIST, the labels that people gave
/// CIFAR-10 (CIFAR-10H), and the rows that OpenOOD lists.
const std::vector<CatalogueEntry>& catalogue();

bool in_catalogue(std::string_view name);

/// DataError if there is no such set, with the nearest name and all names.
const CatalogueEntry& entry_named(std::string_view name);

/// An empty name means the set's first split. DataError, with the names of the splits, if there is no such split.
const Split& split_named(const CatalogueEntry& entry, std::string_view name);

/// DataError if there is no such part.
const SetPart& part_named(const CatalogueEntry& entry, std::string_view name);

// Where data sets lie: below one folder, the data root, as downloaded or as somebody laid them out by hand.

/// The value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;

/// $PRIORNET_DATA, else $XDG_DATA_HOME/priornet, else ~/.local/share/priornet; an empty variable counts as unset.
/// DataError if there is no home folder either. The folder need not exist.
std::filesystem::path data_root();
std::filesystem::path data_root(const Environment& environment);

/// The first of the entry's locations that exists.
std::optional<std::filesystem::path> find_location(const CatalogueEntry& entry, const std::filesystem::path& root);

/// The first of the entry's locations that holds all files of the part; an archive is assumed to hold them.
std::optional<std::filesystem::path> find_location(const CatalogueEntry& entry, const SetPart& part,
                                                   const std::filesystem::path& root);

/// A published file, or what it expands to, wherever it lies in the entry's locations.
std::optional<std::filesystem::path> find_file(const CatalogueEntry& entry, const KnownFile& file,
                                               const std::filesystem::path& root);

/// The files a part is read from: the archive itself, or those in the folder, sorted.
std::vector<std::filesystem::path> source_files(const SetPart& part, const std::filesystem::path& location);

/// A hash that changes when the files do: of their paths below `base`, their sizes and the times of their last change.
std::string source_fingerprint(const std::filesystem::path& base, const std::vector<std::filesystem::path>& files);

/// Which published files to put where, so that the set is found: "put train-images-idx3-ubyte.gz, ... into DATA/mnist".
std::string layout_by_hand(const CatalogueEntry& entry, const std::filesystem::path& root);

}  // namespace priornet
