#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/fetch/checked_file.h>
#include <priornet/data/fetch/wholeness.h>

namespace priornet {

CheckedFile::CheckedFile(KnownFile file, const std::filesystem::path& root)
    : known_(std::move(file)), path_(root / known_.path) {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", path_.parent_path().string(), error.message()));
  file_.emplace(path_);
  if (has_checksum(known_)) checksum_.emplace(known_.sha256.empty() ? Digest::kMd5 : Digest::kSha256);
}

void CheckedFile::write(std::string_view bytes) {
  if (checksum_) checksum_->add(bytes);
  file_->write(bytes);
  size_ += static_cast<int64_t>(bytes.size());
}

void CheckedFile::commit(const std::string& source) {
  const auto fault = fault_of(known_, size_, checksum_ ? checksum_->hexadecimal() : "");
  if (!fault.empty())
    throw DataError(fmt::format("{}: cannot be made from {}: what came {}", path_.string(), source, fault));
  file_->commit();
}

}  // namespace priornet
