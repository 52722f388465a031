#include "learning/data/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>
#include <vector>

#include "learning/base/file_io.h"
#include "learning/data/byte_stream.h"

namespace priornet {
namespace {

// An archive this small may expand this far, whatever its ratio.
constexpr int64_t kHarmless = int64_t{1} << 30;

// Bytes to read at a time.
size_t block_for(int64_t size) { return static_cast<size_t>(std::clamp<int64_t>(size, 1, int64_t{1} << 20)); }

struct FreeArchive {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
using Handle = std::unique_ptr<archive, FreeArchive>;

std::string reason(archive* handle) {
  const char* text = archive_error_string(handle);
  return text == nullptr ? "unknown error" : text;
}

[[noreturn]] void fail(const std::string& name, archive* handle) {
  throw DataError(fmt::format("{}: cannot be read as an archive: {}", name, reason(handle)));
}

class EntryStream final : public ByteStream {
 public:
  EntryStream(std::string name, archive* handle, int64_t size)
      : ByteStream(std::move(name)), handle_(handle), size_(size) {}

  int64_t at_most() const override { return std::max<int64_t>(0, size_ - offset()); }

 private:
  size_t read_some(void* to, size_t size) override {
    const auto got = archive_read_data(handle_, to, size);
    if (got < 0) throw DataError(fmt::format("{}: damaged near byte {}: {}", name(), offset(), reason(handle_)));
    return static_cast<size_t>(got);
  }

  archive* handle_;
  int64_t size_;
};

bool leads_out(const std::string& path) {
  const std::filesystem::path parts(path);
  return parts.is_absolute() || std::find(parts.begin(), parts.end(), "..") != parts.end();
}

std::string path_of(archive_entry* entry) {
  const char* path = archive_entry_pathname_utf8(entry);
  if (path == nullptr) path = archive_entry_pathname(entry);  // no such locale: the bytes as they are
  std::string text = path == nullptr ? "" : path;
  return text.starts_with("./") ? text.substr(2) : text;
}

struct Visit {
  const std::string& name;
  int64_t archive_size;
  const PathFilter& wanted;
  const FileVisitor& visitor;
  const ArchiveLimits& limits;
};

void visit_entries(archive* handle, const Visit& visit) {
  const auto most = std::min(visit.limits.bytes, std::max(kHarmless, visit.archive_size > kHarmless
                                                                         ? visit.limits.bytes
                                                                         : visit.archive_size * kLargestDeflateRatio));
  int64_t files = 0;
  int64_t bytes = 0;
  archive_entry* entry = nullptr;
  while (true) {
    const int status = archive_read_next_header(handle, &entry);
    if (status == ARCHIVE_EOF) return;
    if (status < ARCHIVE_WARN) fail(visit.name, handle);
    const auto path = path_of(entry);
    if (leads_out(path)) throw DataError(fmt::format("{}: entry {} leads out of the archive", visit.name, path));
    if (++files > visit.limits.files)
      throw DataError(fmt::format("{}: holds more than the {} files allowed", visit.name, visit.limits.files));
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr || !visit.wanted(path))
      continue;
    const auto size = archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : most - bytes;
    if (size < 0 || size > most - bytes)
      throw DataError(fmt::format("{}: entry {} claims {} bytes, more than the archive's {} bytes can hold", visit.name,
                                  path, size, visit.archive_size));
    EntryStream stream(fmt::format("{}: {}", visit.name, path), handle, size);
    visit.visitor(path, stream);
    bytes += std::max(size, stream.offset());
  }
}

Handle new_reader() {
  Handle handle(archive_read_new());
  archive_read_support_format_tar(handle.get());
  archive_read_support_format_ar(handle.get());
  archive_read_support_filter_gzip(handle.get());
  archive_read_support_filter_bzip2(handle.get());
  archive_read_support_filter_xz(handle.get());
  archive_read_support_filter_zstd(handle.get());
  return handle;
}

// Hands the bytes of a stream to libarchive; no exception may pass through libarchive.
struct Feed {
  ByteStream& bytes;
  std::vector<char> block;
  std::exception_ptr error;

  static la_ssize_t read(archive* handle, void* self, const void** to) {
    auto& feed = *static_cast<Feed*>(self);
    try {
      *to = feed.block.data();
      return static_cast<la_ssize_t>(feed.bytes.read(feed.block.data(), feed.block.size()));
    } catch (...) {
      feed.error = std::current_exception();
      archive_set_error(handle, EIO, "its bytes cannot be read");
      return -1;
    }
  }
};

}  // namespace

void visit_archive(const std::filesystem::path& path, const PathFilter& wanted, const FileVisitor& visitor,
                   const ArchiveLimits& limits) {
  const auto name = path.string();
  const auto size = InputFile(path).size();  // says what is wrong with the path, if anything
  if (size == 0) throw DataError(fmt::format("{}: is empty", name));
  const auto handle = new_reader();
  // A ZIP is read only by the directory at its end: a streaming reader would not notice missing files.
  archive_read_support_format_zip_seekable(handle.get());
  if (archive_read_open_filename(handle.get(), path.c_str(), block_for(size)) != ARCHIVE_OK) fail(name, handle.get());
  visit_entries(handle.get(), {name, size, wanted, visitor, limits});
}

void visit_archive(ByteStream& bytes, const PathFilter& wanted, const FileVisitor& visitor,
                   const ArchiveLimits& limits) {
  const auto size = bytes.at_most();
  Feed feed{bytes, std::vector<char>(block_for(size)), nullptr};
  const auto handle = new_reader();
  archive_read_support_format_zip_streamable(handle.get());
  try {
    if (archive_read_open(handle.get(), &feed, nullptr, &Feed::read, nullptr) != ARCHIVE_OK)
      fail(bytes.name(), handle.get());
    visit_entries(handle.get(), {bytes.name(), size, wanted, visitor, limits});
  } catch (...) {
    if (feed.error) std::rethrow_exception(feed.error);
    throw;
  }
}

}  // namespace priornet
