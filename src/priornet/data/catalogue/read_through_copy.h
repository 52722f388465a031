#pragma once

#include <priornet/data/catalogue/load.h>

namespace priornet {

/// Something to read that has, or may get, a prepared copy.
struct CopiedSource {
  std::string name;                          ///< of the copy, without ending: "mnist-train"
  std::filesystem::path base;                ///< the folder or archive it is read from
  std::vector<std::filesystem::path> files;  ///< the files, all in the folder
  int64_t count = 0;                         ///< how many rows it has; 0 where that is open
  std::function<Dataset()> read;
};

/// The prepared copy, if it was made from the files as they are now; else what `read` gives, which is then copied for
/// the next time. DataError where it holds another number of rows than it should.
Dataset read_through_copy(const CopiedSource& source, const LoadOptions& options);

/// The prepared copy of that name, whatever it was made from: for when the originals are gone.
std::optional<Dataset> copy_without_source(const std::string& name, const LoadOptions& options);

/// The name of a part's copy: "mnist-train", "lsun-test-32x32-bilinear".
std::string copy_name(const CatalogueEntry& entry, const SetPart& part, const std::optional<ResizeOptions>& resize);

/// Tells copies of one source apart: "-32x32-bilinear", "-32x32-bilinear-points" without antialiasing.
std::string resize_suffix(const std::optional<ResizeOptions>& resize);

}  // namespace priornet
