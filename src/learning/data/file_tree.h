#pragma once

#include <priornet/uncertainty/errors.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "learning/data/archive.h"
#include "learning/data/byte_stream.h"

namespace priornet {

/// A file from start to end; expanded if its name ends in .gz.
std::unique_ptr<ByteStream> open_file(const std::filesystem::path& path);

/// Is told about a file that cannot be read.
using FaultVisitor = std::function<void(const std::string& path, const DataError& error)>;

/// Whether a file comes before another, by their paths.
using PathOrder = std::function<bool(const std::string& a, const std::string& b)>;

/// For a walk through folders: which links to folders it follows. Each folder is entered by a link once at most, and
/// never by one that lies in it.
class FollowedLinks {
 public:
  bool enters(const std::filesystem::path& link);

 private:
  std::set<std::filesystem::path> followed_;
};

/// Visits the wanted files of `root`. A folder: the files in it and below it, also through links, in the order of their
/// paths, or in the given order. An archive: in the archive's order. Or `root` itself, a single file, whose path is its
/// name. A file NAME.gz is visited as NAME, expanded; it is skipped if the folder also holds NAME, and so are hidden
/// files. DataError if a file cannot be read; in a folder `on_fault` is told instead, if there is one, also about
/// folders that cannot be entered.
void visit_files(const std::filesystem::path& root, const PathFilter& wanted, const FileVisitor& visitor,
                 const FaultVisitor& on_fault = {}, const PathOrder& order = std::less<>());

/// Takes the file called names[which].
using NamedFileVisitor = std::function<void(size_t which, ByteStream& bytes)>;

/// Visits the files of a folder or an archive that have one of these `names`, wherever they lie, in the order of
/// visit_files; or `root` itself, if it is that file. DataError that names root and file if one of them is missing, or
/// is there twice in different places.
void visit_named_files(const std::filesystem::path& root, const std::vector<std::string>& names,
                       const NamedFileVisitor& visitor);

}  // namespace priornet
