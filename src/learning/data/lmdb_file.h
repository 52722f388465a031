#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "learning/data/byte_stream.h"

// LMDB data files, read with liblmdb after check_lmdb_pages. In a build without it both throw DataError.

namespace priornet {

/// Takes one record; both lie in mapped memory that is gone after the call.
using RecordVisitor = std::function<void(std::string_view key, std::string_view value)>;

/// Visits every record of a data.mdb in the order of the keys. Nothing is locked or written: the file must not change
/// meanwhile. DataError, opened by the file's name, where it is damaged, truncated or not an LMDB.
void visit_lmdb(const std::filesystem::path& file, const RecordVisitor& visitor);

/// The same from a stream, as of a file in an archive: it is held in memory, up to 8 GiB of it.
void visit_lmdb(ByteStream& bytes, const RecordVisitor& visitor);

}  // namespace priornet
