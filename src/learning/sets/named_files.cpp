#include "learning/sets/named_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <system_error>

#include "learning/data/file_tree.h"

namespace priornet {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void visit_named_files(const std::filesystem::path& root, const std::vector<std::string>& names,
                       const NamedFileVisitor& visitor) {
  std::error_code ignored;
  if (!std::filesystem::exists(root, ignored))
    throw DataError(fmt::format("{}: is not there; looked in it for {}", root.string(), fmt::join(names, ", ")));
  const auto index_of = [&](const std::string& path) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), last_part(path)) - names.begin());
  };
  std::vector<std::string> found(names.size());
  visit_files(
      root, [&](const std::string& path) { return index_of(path) < names.size(); },
      [&](const std::string& path, ByteStream& bytes) {
        auto& earlier = found[index_of(path)];
        if (!earlier.empty())
          throw DataError(fmt::format("{}: holds both {} and {}; which is meant?", root.string(), earlier, path));
        earlier = path;
        visitor(index_of(path), bytes);
      });
  for (size_t which = 0; which < names.size(); ++which)
    if (found[which].empty())
      throw DataError(fmt::format("{}: holds no file {} or {}.gz", root.string(), names[which], names[which]));
}

}  // namespace priornet
