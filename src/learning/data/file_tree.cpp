#include "learning/data/file_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string_view>
#include <system_error>

#include "learning/base/file_io.h"
#include "learning/base/names.h"
#include "learning/data/archive.h"
#include "learning/data/byte_stream.h"

namespace priornet {

bool is_archive(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 10> kExtensions = {".zip",     ".tar", ".tar.gz", ".tgz",     ".tar.xz",
                                                            ".tar.bz2", ".txz", ".tbz2",   ".tar.zst", ".deb"};
  const auto name = lower_case(path.filename().string());
  return std::any_of(kExtensions.begin(), kExtensions.end(), [&](auto extension) { return name.ends_with(extension); });
}

namespace {

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const std::filesystem::path& path) : ByteStream(path.string()), file_(path) {}
  int64_t at_most() const override { return file_.size() - offset(); }

 private:
  size_t read_some(void* to, size_t size) override { return file_.read(to, size); }

  InputFile file_;
};

}  // namespace

bool FollowedLinks::enters(const std::filesystem::path& link) {
  std::error_code error;
  const auto target = std::filesystem::canonical(link, error);
  const auto holder = std::filesystem::canonical(link.parent_path(), error);
  if (error) return false;
  const auto [end, ignored] = std::mismatch(target.begin(), target.end(), holder.begin(), holder.end());
  return end != target.end() && followed_.insert(target).second;
}

namespace {

bool hidden(const std::filesystem::path& path) { return path.filename().string().starts_with("."); }

// Where each file lies, by the path it is visited under; a map, because a folder has no fixed order.
std::map<std::string, std::filesystem::path> files_below(const std::filesystem::path& root,
                                                         const FaultVisitor& on_fault) {
  std::map<std::string, std::filesystem::path> files;
  FollowedLinks links;
  try {
    constexpr auto kFollow = std::filesystem::directory_options::follow_directory_symlink;
    for (auto at = std::filesystem::recursive_directory_iterator(root, kFollow); at != std::filesystem::end(at); ++at) {
      if (hidden(at->path()) || (at->is_symlink() && at->is_directory() && !links.enters(at->path()))) {
        at.disable_recursion_pending();
      } else if (on_fault && at->is_directory() && ::access(at->path().c_str(), R_OK | X_OK) != 0) {
        at.disable_recursion_pending();
        on_fault(at->path().lexically_relative(root).generic_string() + "/",
                 DataError("cannot be read: " + std::generic_category().message(errno)));
      } else if (at->is_regular_file()) {
        const auto path = at->path().lexically_relative(root).generic_string();
        const auto plain = without_gzip(path);
        if (path == plain)
          files[plain] = at->path();
        else
          files.try_emplace(plain, at->path());
      }
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw DataError(fmt::format("{}: cannot be read: {}", error.path1().string(), error.code().message()));
  }
  return files;
}

}  // namespace

std::unique_ptr<ByteStream> open_file(const std::filesystem::path& path) {
  auto file = std::make_unique<FileStream>(path);
  if (path.extension() == ".gz") return gunzip(std::move(file));
  return file;
}

void visit_files(const std::filesystem::path& root, const PathFilter& wanted, const FileVisitor& visitor,
                 const FaultVisitor& on_fault, const PathOrder& order) {
  std::error_code ignored;  // opening it reports what is wrong
  if (std::filesystem::is_directory(root, ignored)) {
    const auto found = files_below(root, on_fault);
    std::vector<std::pair<std::string, std::filesystem::path>> files(found.begin(), found.end());
    std::stable_sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return order(a.first, b.first); });
    for (const auto& [path, where] : files) {
      if (!wanted(path)) continue;
      try {
        visitor(path, *open_file(where));
      } catch (const DataError& error) {
        if (!on_fault) throw;
        on_fault(path, error);
      }
    }
  } else if (is_archive(root)) {
    visit_archive(
        root, [&](const std::string& path) { return wanted(without_gzip(path)); },
        [&](const std::string& path, ByteStream& bytes) {
          const auto plain = without_gzip(path);
          visitor(plain, plain == path ? bytes : *gunzip(bytes));
        });
  } else if (const auto name = without_gzip(root.filename().string()); wanted(name)) {
    visitor(name, *open_file(root));
  }
}

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void visit_named_files(const std::filesystem::path& root, const std::vector<std::string>& names,
                       const NamedFileVisitor& visitor) {
  std::error_code ignored;
  if (!std::filesystem::exists(root, ignored))
    throw DataError(fmt::format("{}: does not exist; it should hold {}", root.string(), fmt::join(names, ", ")));
  const auto index_of = [&](const std::string& path) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), last_part(path)) - names.begin());
  };
  std::vector<std::string> found(names.size());
  visit_files(
      root, [&](const std::string& path) { return index_of(path) < names.size(); },
      [&](const std::string& path, ByteStream& bytes) {
        auto& earlier = found[index_of(path)];
        if (!earlier.empty())
          throw DataError(fmt::format("{}: holds both {} and {}; remove one of them", root.string(), earlier, path));
        earlier = path;
        visitor(index_of(path), bytes);
      });
  for (size_t which = 0; which < names.size(); ++which)
    if (found[which].empty())
      throw DataError(fmt::format("{}: holds no file {} or {}.gz", root.string(), names[which], names[which]));
}

}  // namespace priornet
