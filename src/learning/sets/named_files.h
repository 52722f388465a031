#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "learning/data/byte_stream.h"

namespace priornet {

/// Takes the file called names[which].
using NamedFileVisitor = std::function<void(size_t which, ByteStream& bytes)>;

/// Visits the files of a folder or an archive that are called one of `names`, wherever in it they lie, in the order of
/// visit_files; or `root` itself, where it is that file.
/// DataError that names root and file where one of them is missing, or there twice in different places.
void visit_named_files(const std::filesystem::path& root, const std::vector<std::string>& names,
                       const NamedFileVisitor& visitor);

}  // namespace priornet
