#include <priornet/core/errors.h>
#include <priornet/data/arrays/npz.h>
#include <priornet/data/files/archive.h>

// What stands in for the readers whose library this build lacks.

namespace priornet {
namespace {

[[noreturn, maybe_unused]] void missing(const std::string& name, const char* library, const char* what) {
  throw DataError(name + ": this build has no " + library + ": " + what);
}

}  // namespace

#ifndef PRIORNET_HAVE_LIBARCHIVE
void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>&) {
  missing(path.string(), "libarchive", ".npz files cannot be written");
}
void visit_archive(const std::filesystem::path& path, const PathFilter&, const FileVisitor&, const ArchiveLimits&) {
  missing(path.string(), "libarchive", "archives cannot be read; unpack it");
}
void visit_archive(ByteStream& bytes, const PathFilter&, const FileVisitor&, const ArchiveLimits&) {
  missing(bytes.name(), "libarchive", "archives cannot be read; unpack it");
}
#endif

}  // namespace priornet
