#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <exception>
#include <memory>

#include "learning/base/file_io.h"
#include "learning/data/npy.h"

namespace priornet {
namespace {

struct WriteFree {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
struct EntryFree {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

std::string reason(archive* handle) {
  const char* text = archive_error_string(handle);
  return text == nullptr ? "unknown error" : text;
}

// Carries an exception over libarchive's C frames.
struct Sink {
  AtomicFile& file;
  std::exception_ptr error;

  static la_ssize_t write(archive*, void* self, const void* bytes, size_t size) {
    auto& sink = *static_cast<Sink*>(self);
    try {
      sink.file.write(bytes, size);
      return static_cast<la_ssize_t>(size);
    } catch (...) {
      sink.error = std::current_exception();
      return -1;
    }
  }
};

}  // namespace

void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>& arrays) {
  AtomicFile file(path);
  Sink sink{file, {}};
  const std::unique_ptr<archive, WriteFree> zip(archive_write_new());
  const auto check = [&](la_ssize_t status) {
    if (status >= 0) return;
    if (sink.error) std::rethrow_exception(sink.error);
    throw DataError(fmt::format("{}: cannot be written: {}", path.string(), reason(zip.get())));
  };
  check(archive_write_set_format_zip(zip.get()));
  check(archive_write_zip_set_compression_store(zip.get()));
  check(archive_write_set_bytes_per_block(zip.get(), 1 << 20));
  check(archive_write_set_bytes_in_last_block(zip.get(), 1));
  check(archive_write_open(zip.get(), &sink, nullptr, Sink::write, nullptr));
  for (const auto& [name, values] : arrays) {
    const auto array = values.detach().cpu().contiguous();
    const auto header = format_npy_header(array.scalar_type(), array.sizes().vec());
    const std::unique_ptr<archive_entry, EntryFree> entry(archive_entry_new());
    archive_entry_set_pathname_utf8(entry.get(), (name + ".npy").c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(header.size() + array.nbytes()));
    check(archive_write_header(zip.get(), entry.get()));
    check(archive_write_data(zip.get(), header.data(), header.size()));
    check(archive_write_data(zip.get(), array.data_ptr(), array.nbytes()));
  }
  check(archive_write_close(zip.get()));
  file.commit();
}

}  // namespace priornet
