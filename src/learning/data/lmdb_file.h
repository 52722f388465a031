#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "learning/data/byte_stream.h"

namespace priornet {

/// liblmdb trusts the pages it maps: a damaged page makes it read beyond the file, or abort. This function walks the
/// records of a file from the root of its newest tree and checks everything that liblmdb follows: page numbers and
/// kinds, the depth, the nodes in a page, the pages of large values; no page may be used twice. `file` is the whole
/// data.mdb, as liblmdb 0.9 writes it on a 64-bit little-endian machine. DataError, "NAME: ...", names the page that is
/// wrong.
void check_lmdb_pages(const std::string& name, std::string_view file);

// LMDB data files, read with liblmdb after check_lmdb_pages. In a build without it both throw DataError.

/// Takes one record; both arguments lie in mapped memory that is gone after the call.
using RecordVisitor = std::function<void(std::string_view key, std::string_view value)>;

/// Visits every record of a data.mdb in the order of the keys. Nothing is locked or written: the file must not change
/// meanwhile. DataError, which begins with the file's name, if it is damaged, truncated or not an LMDB.
void visit_lmdb(const std::filesystem::path& file, const RecordVisitor& visitor);

/// The same from a stream, for a file in an archive: memory holds all of it, up to 8 GiB.
void visit_lmdb(ByteStream& bytes, const RecordVisitor& visitor);

}  // namespace priornet
