#pragma once

#include <string>
#include <string_view>

namespace priornet {

/// liblmdb trusts the pages it maps: a damaged one makes it read beyond the file, or abort. This walks the records of a
/// file from the root of its newest tree and holds to the file all that liblmdb follows: page numbers and kinds, the
/// depth, the nodes in a page, the pages of large values; no page may serve twice.
/// `file` is the whole data.mdb, as liblmdb 0.9 writes it on a 64-bit little-endian machine. DataError, "NAME: ...",
/// names the page that is wrong.
void check_lmdb_pages(const std::string& name, std::string_view file);

}  // namespace priornet
