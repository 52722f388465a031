#include <priornet/learning/images.h>
#include <priornet/uncertainty/errors.h>

#include "learning/data/archive.h"
#include "learning/data/decoded_pixels.h"
#include "learning/data/lmdb_file.h"
#include "learning/data/npy.h"

// Replacements for the readers whose library this build lacks.

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

#ifndef PRIORNET_HAVE_LIBPNG
void read_png(std::string_view, const std::string& name, PixelRows&) {
  missing(name, "libpng", "PNG images cannot be read");
}
ImageFacts png_facts(std::string_view, const std::string& name) {
  missing(name, "libpng", "PNG images cannot be read");
}
std::string encode_png(const torch::Tensor&) { missing("encode_png", "libpng", "PNG images cannot be written"); }
#endif

#ifndef PRIORNET_HAVE_LIBJPEG
void read_jpeg(std::string_view, const std::string& name, const WantedSize&, PixelRows&) {
  missing(name, "libjpeg", "JPEG images cannot be read");
}
ImageFacts jpeg_facts(std::string_view, const std::string& name) {
  missing(name, "libjpeg", "JPEG images cannot be read");
}
#endif

#ifndef PRIORNET_HAVE_LIBWEBP
void read_webp(std::string_view, const std::string& name, const WantedSize&, PixelRows&) {
  missing(name, "libwebp", "WebP images cannot be read");
}
ImageFacts webp_facts(std::string_view, const std::string& name) {
  missing(name, "libwebp", "WebP images cannot be read");
}
#endif

#ifndef PRIORNET_HAVE_LIBGIF
Pixels decode_gif(std::string_view, const std::string& name) { missing(name, "giflib", "GIF images cannot be read"); }
ImageFacts gif_facts(std::string_view, const std::string& name) {
  missing(name, "giflib", "GIF images cannot be read");
}
#endif

#ifndef PRIORNET_HAVE_LIBTIFF
Pixels decode_tiff(std::string_view, const std::string& name) {
  missing(name, "libtiff", "TIFF images cannot be read");
}
ImageFacts tiff_facts(std::string_view, const std::string& name) {
  missing(name, "libtiff", "TIFF images cannot be read");
}
#endif

#ifndef PRIORNET_HAVE_LIBHEIF
Pixels decode_heif(std::string_view, const std::string& name) {
  missing(name, "libheif", "HEIC images cannot be read");
}
ImageFacts heif_facts(std::string_view, const std::string& name) {
  missing(name, "libheif", "HEIC images cannot be read");
}
#endif

#ifndef PRIORNET_HAVE_LMDB
void visit_lmdb(const std::filesystem::path& file, const RecordVisitor&) {
  missing(file.string(), "liblmdb", "LMDB files cannot be read");
}
void visit_lmdb(ByteStream& bytes, const RecordVisitor&) {
  missing(bytes.name(), "liblmdb", "LMDB files cannot be read");
}
#endif

}  // namespace priornet
