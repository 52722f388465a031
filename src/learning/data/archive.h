#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "learning/data/byte_stream.h"

// Archives read with libarchive, file by file and never unpacked to disk: .zip, .tar (plain or with gzip, bzip2, xz,
// zstd) and ar (.deb). In a build without libarchive everything but is_archive throws DataError.

namespace priornet {

/// Which files the caller wants, by their path in the folder or archive, with '/' between the parts.
using PathFilter = std::function<bool(const std::string& path)>;

/// Takes one file; the unread rest is skipped.
using FileVisitor = std::function<void(const std::string& path, ByteStream& bytes)>;

/// The most that an archive may make us read.
struct ArchiveLimits {
  int64_t files = 4'000'000;
  int64_t bytes = int64_t{64} << 30;  ///< of all wanted files together
};

/// By its extension.
bool is_archive(const std::filesystem::path& path);

/// Visits the wanted regular files in the order of the archive.
/// DataError that names the archive and the entry: not an archive, damaged, an entry whose path is absolute or leads
/// out of the archive, more files or bytes than the limits allow or the size of the archive can explain.
void visit_archive(const std::filesystem::path& path, const PathFilter& wanted, const FileVisitor& visitor,
                   const ArchiveLimits& limits = {});

/// The same from a stream, for an archive in an archive.
void visit_archive(ByteStream& bytes, const PathFilter& wanted, const FileVisitor& visitor,
                   const ArchiveLimits& limits = {});

}  // namespace priornet
