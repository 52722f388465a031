#include <fmt/format.h>
#include <priornet/data/fetch/wholeness.h>
#include <priornet/data/files/checksum.h>

namespace priornet {

bool has_checksum(const KnownFile& file) { return !file.sha256.empty() || !file.md5.empty(); }

std::string fault_of(const KnownFile& file, int64_t size, const std::string& checksum) {
  if (file.size > 0 && size != file.size) return fmt::format("has {} bytes, {} expected", size, file.size);
  const bool sha256 = !file.sha256.empty();
  const auto& expected = sha256 ? file.sha256 : file.md5;
  if (checksum == expected) return {};
  return fmt::format("has {} {}, {} expected", sha256 ? "SHA-256" : "MD5", checksum, expected);
}

std::string fault_of(const KnownFile& file, const std::filesystem::path& path, Progress& progress) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return "is not there";
  const bool right_size = file.size <= 0 || static_cast<int64_t>(size) == file.size;
  // A wrong size says it all, and a large file takes its time.
  if (!right_size || !has_checksum(file))
    return fault_of({file.path, file.size, {}, {}, {}}, static_cast<int64_t>(size), {});
  return fault_of(file, static_cast<int64_t>(size),
                  file.sha256.empty() ? md5_of(path, progress) : sha256_of(path, progress));
}

}  // namespace priornet
