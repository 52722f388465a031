#pragma once

#include <memory>

#include "learning/data/archive.h"

namespace priornet {

/// A file from start to end; expanded if its name ends in .gz.
std::unique_ptr<ByteStream> open_file(const std::filesystem::path& path);

/// Visits the wanted files of `root`: of a folder and those in it, in the order of their paths; of an archive, in the
/// archive's order; or `root` itself, a single file, whose path is its name.
/// A file NAME.gz is visited as NAME, expanded; beside a NAME in a folder it is passed over, and so are hidden files.
void visit_files(const std::filesystem::path& root, const PathFilter& wanted, const FileVisitor& visitor);

}  // namespace priornet
