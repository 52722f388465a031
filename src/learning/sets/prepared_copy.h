#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/load_set.h>

#include <filesystem>
#include <optional>
#include <string>

#include "learning/data/growing_tensor_file.h"

// Prepared copies: a part of a set as it lies in memory, in a tensor file (tensor_file.h) that is mapped
// rather than read: images, uint8 [N, C, H, W], and labels, int64 [N].

namespace priornet {

/// Raised whenever a reader gives other images or labels for the same files: older copies are then made again.
constexpr int kReaderVersion = 4;

/// Where the copy of that name ("mnist-train") lies.
std::filesystem::path prepared_copy_file(const std::filesystem::path& data_root, const std::string& name);

/// Maps the copy. Nothing if there is none, if it is damaged, truncated or no copy at all, if a reader of another
/// version made it, or if it was made from another source than this one (any source if none is given). The tensors may
/// be written to if memory has room for them; the file never changes. `files`, if given, receives what was stored about
/// the set's files.
std::optional<Dataset> map_prepared_copy(const std::filesystem::path& file, const std::optional<std::string>& source,
                                         SetFiles* files = nullptr);

/// Writes the copy and the folders it lies in. False if that is impossible, as in a read-only folder or on a full disk,
/// and for a set that does not hold images. `pixels`, if given, already holds the images, and becomes the copy.
bool write_prepared_copy(const std::filesystem::path& file, const Dataset& set, const std::string& source,
                         const SetFiles& files = {}, GrowingTensorFile* pixels = nullptr);

/// A part that has, or may get, a prepared copy.
struct CopiedSource {
  std::string name;                          ///< of the copy, without ending: "mnist-train"
  std::filesystem::path base;                ///< the folder or archive it is read from
  std::vector<std::filesystem::path> files;  ///< the files, all in the folder
  int64_t count = 0;                         ///< how many rows it has; 0 if unknown
  std::function<Dataset()> read;
  SetFiles* noted = nullptr;  ///< where `read` notes what it made of the files; the copy keeps it
  /// The path of the copy's file: `read` puts images there that memory has no room for.
  GrowingTensorFile* pixels = nullptr;
};

/// The prepared copy, if it was made from the files as they are now; otherwise the result of `read`, which is then
/// copied for the next time. DataError if it holds another number of rows than it should.
Dataset read_through_copy(const CopiedSource& source, const LoadOptions& options);

/// The prepared copy of that name, whatever it was made from: for when the originals are gone.
std::optional<Dataset> copy_without_source(const std::string& name, const LoadOptions& options);

/// The name of a part's copy: "mnist-train", "lsun-test-32x32-bilinear".
std::string copy_name(const CatalogueEntry& entry, const SetPart& part, const std::optional<ResizeOptions>& resize);

/// Tells copies of one source apart: "-32x32-bilinear", "-32x32-bilinear-points" without antialiasing,
/// "-32x32-bilinear-points-corners" also on the grid of corners.
std::string resize_suffix(const std::optional<ResizeOptions>& resize);

}  // namespace priornet
