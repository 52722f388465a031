#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>
#include <utility>
#include <vector>

namespace priornet {

enum class ArchiveKind { kTarGz, kTarXz, kZip, kAr };

/// An archive of these files, by path.
inline std::string archive_bytes(const std::vector<std::pair<std::string, std::string>>& files, ArchiveKind kind) {
  size_t room = size_t{1} << 20;
  for (const auto& file : files) room += file.second.size();
  std::string bytes(room, '\0');
  size_t used = 0;
  auto* out = archive_write_new();
  if (kind == ArchiveKind::kZip) {
    archive_write_set_format_zip(out);
  } else if (kind == ArchiveKind::kAr) {
    archive_write_set_format_ar_svr4(out);
  } else {
    archive_write_set_format_pax_restricted(out);
  }
  if (kind == ArchiveKind::kTarGz) archive_write_add_filter_gzip(out);
  if (kind == ArchiveKind::kTarXz) archive_write_add_filter_xz(out);
  archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
  for (const auto& [path, content] : files) {
    auto* entry = archive_entry_new();
    archive_entry_set_pathname(entry, path.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_write_header(out, entry);
    archive_write_data(out, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(out);
  archive_write_free(out);
  bytes.resize(used);
  return bytes;
}

inline std::string archive_bytes(const std::vector<std::pair<std::string, std::string>>& files, bool zip = false) {
  return archive_bytes(files, zip ? ArchiveKind::kZip : ArchiveKind::kTarGz);
}

}  // namespace priornet
