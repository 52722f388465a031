#include <priornet/data/files/archive.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace priornet {

bool is_archive(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 10> kExtensions = {".zip",     ".tar", ".tar.gz", ".tgz",     ".tar.xz",
                                                            ".tar.bz2", ".txz", ".tbz2",   ".tar.zst", ".deb"};
  auto name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::any_of(kExtensions.begin(), kExtensions.end(), [&](auto extension) { return name.ends_with(extension); });
}

}  // namespace priornet
