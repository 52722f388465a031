#pragma once

#include <priornet/data/dataset.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace priornet {

/// A file as its authors publish it.
struct KnownFile {
  std::string path;               ///< under the data root: "mnist/train-images-idx3-ubyte.gz"
  int64_t size = 0;               ///< in bytes; 0 where unknown
  std::string sha256;             ///< in hexadecimal; empty where unknown
  std::string md5;                ///< where there is no sha256
  std::vector<std::string> urls;  ///< the official source, then mirrors; none for what only comes out of others
};

/// A part of a set as the paper uses it.
struct Split {
  std::string name;   ///< "train", "validation", "test"
  int64_t count = 0;  ///< how many it holds
  std::string from;   ///< in a few words: "the first 5,000 of the training file"
  std::function<Dataset(const std::filesystem::path& location)> read;
};

/// Where a set may lie below the data root: a folder, an archive, a file.
struct Location {
  std::string path;                   ///< "cifar-10-batches-bin", "cifar-10-binary.tar.gz"
  std::vector<std::string> contains;  ///< for a folder: paths of which one is there (or there with .gz)
};

struct CatalogueEntry {
  std::string name;                 ///< "fashion-mnist"
  std::string title;                ///< "Fashion-MNIST: 10 kinds of clothing, 28x28 grey"
  std::string homepage;             ///< where its authors speak of it
  std::string terms;                ///< its licence, or what its authors ask
  std::vector<KnownFile> files;     ///< the published ones, and what they expand to where that is known
  std::vector<Location> locations;  ///< in the order of preference
  std::vector<Split> splits;        ///< the first is the one meant where none is named
};

}  // namespace priornet
