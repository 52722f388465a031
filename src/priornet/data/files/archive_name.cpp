#include <priornet/core/lower_case.h>
#include <priornet/data/files/archive.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace priornet {

bool is_archive(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 10> kExtensions = {".zip",     ".tar", ".tar.gz", ".tgz",     ".tar.xz",
                                                            ".tar.bz2", ".txz", ".tbz2",   ".tar.zst", ".deb"};
  const auto name = lower_case(path.filename().string());
  return std::any_of(kExtensions.begin(), kExtensions.end(), [&](auto extension) { return name.ends_with(extension); });
}

}  // namespace priornet
