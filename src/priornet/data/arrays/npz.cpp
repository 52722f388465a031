#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/atomic_file.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/data/arrays/npy.h>
#include <priornet/data/arrays/npz.h>

#include <exception>
#include <functional>
#include <memory>

namespace priornet {
namespace {

// Deflate cannot do better, so an entry that claims more is a lie, told before anything is allocated.
constexpr int64_t kLargestRatio = 1032;

struct ReadFree {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
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

std::string name_of(archive_entry* entry) {
  const char* pathname = archive_entry_pathname_utf8(entry);
  std::string name = pathname == nullptr ? "" : pathname;
  if (name.ends_with(".npy")) name.resize(name.size() - 4);
  return name;
}

// Called for each entry; one whose array it does not ask for is skipped.
using Visitor = std::function<void(const std::string& name, const std::function<torch::Tensor()>& array)>;

void visit(const std::filesystem::path& path, const Visitor& visitor) {
  const auto file_size = InputFile(path).size();  // says what is wrong with the path, if anything
  if (file_size == 0) throw DataError(fmt::format("{}: is empty", path.string()));
  const std::unique_ptr<archive, ReadFree> zip(archive_read_new());
  // By the directory at the end only: a streaming reader would not notice that arrays were cut off.
  archive_read_support_format_zip_seekable(zip.get());
  const auto fail = [&] {
    throw DataError(fmt::format("{}: cannot be read as a zip archive: {}", path.string(), reason(zip.get())));
  };
  if (archive_read_open_filename(zip.get(), path.c_str(), size_t{1} << 20) != ARCHIVE_OK) fail();

  archive_entry* entry = nullptr;
  while (true) {
    const int status = archive_read_next_header(zip.get(), &entry);
    if (status == ARCHIVE_EOF) return;
    if (status < ARCHIVE_WARN) fail();
    const auto name = name_of(entry);
    visitor(name, [&] {
      const auto size = archive_entry_size(entry);
      const auto label = fmt::format("{}: array {}", path.string(), name);
      if (size / kLargestRatio > file_size)
        throw DataError(fmt::format("{}: claims {} bytes, more than the file can hold", label, size));
      const auto source = [&](void* to, size_t wanted) {
        size_t done = 0;
        while (done < wanted) {
          const auto got = archive_read_data(zip.get(), static_cast<char*>(to) + done, wanted - done);
          if (got < 0) fail();
          if (got == 0) break;
          done += static_cast<size_t>(got);
        }
        return done;
      };
      return read_npy(label, source, size);
    });
  }
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

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  std::vector<std::string> names;
  visit(path, [&](const std::string& name, const auto&) { names.push_back(name); });
  return names;
}

std::vector<NamedTensor> read_npz(const std::filesystem::path& path) {
  std::vector<NamedTensor> arrays;
  visit(path, [&](const std::string& name, const auto& array) { arrays.push_back({name, array()}); });
  return arrays;
}

torch::Tensor read_npz(const std::filesystem::path& path, const std::string& wanted) {
  torch::Tensor found;
  std::vector<std::string> names;
  visit(path, [&](const std::string& name, const auto& array) {
    names.push_back(name);
    if (name == wanted && !found.defined()) found = array();
  });
  if (!found.defined())
    throw DataError(fmt::format("{}: has no array {}; its arrays: {}", path.string(), wanted, fmt::join(names, ", ")));
  return found;
}

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
