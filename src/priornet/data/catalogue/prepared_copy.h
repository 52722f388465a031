#pragma once

#include <priornet/data/dataset.h>

#include <filesystem>
#include <optional>
#include <string>

// Prepared copies: a part of a set as it lies in memory, in a tensor file (data/arrays/tensor_file.h) that is mapped
// rather than read: images, uint8 [N, C, H, W], and labels, int64 [N].

namespace priornet {

/// Counts up whenever a reader gives other images or labels for the same files: older copies are then made anew.
constexpr int kReaderVersion = 1;

/// Where the copy of that name ("mnist-train") lies.
std::filesystem::path prepared_copy_file(const std::filesystem::path& data_root, const std::string& name);

/// Maps the copy. Nothing where there is none, where it is damaged, truncated or no copy at all, where a reader of
/// another version made it, or where it was made from another source than this one (any will do if none is given).
/// The tensors may be written to; the file never changes.
std::optional<Dataset> map_prepared_copy(const std::filesystem::path& file, const std::optional<std::string>& source);

/// Writes the copy and the folders it lies in. False where that cannot be, as in a folder that is read-only or on a
/// disk that is full, and for a set that does not hold images.
bool write_prepared_copy(const std::filesystem::path& file, const Dataset& set, const std::string& source);

}  // namespace priornet
