#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>
#include <utility>
#include <vector>

namespace priornet {

/// An archive of these files, by path: .tar.gz, or .zip.
inline std::string archive_bytes(const std::vector<std::pair<std::string, std::string>>& files, bool zip = false) {
  std::string bytes(size_t{1} << 20, '\0');
  size_t used = 0;
  auto* out = archive_write_new();
  zip ? archive_write_set_format_zip(out) : archive_write_set_format_pax_restricted(out);
  if (!zip) archive_write_add_filter_gzip(out);
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

}  // namespace priornet
