#pragma once

#include <priornet/core/progress.h>
#include <priornet/data/catalogue/entry.h>

#include <filesystem>
#include <string>

namespace priornet {

/// What tells the bytes at `path` from the published file, in a few words: "is not there", "has 10 bytes, 20 expected",
/// "has SHA-256 ..., ... expected". Empty where size and checksum agree as far as they are known.
std::string fault_of(const KnownFile& file, const std::filesystem::path& path, Progress& progress);

/// The same from what was counted and computed on the way: the SHA-256 where it is known, else the MD5, else nothing.
std::string fault_of(const KnownFile& file, int64_t size, const std::string& checksum);

/// Whether anything but the bytes themselves can tell that they are right.
bool has_checksum(const KnownFile& file);

}  // namespace priornet
