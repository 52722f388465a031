#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/formats/image_folder.h>
#include <priornet/data/formats/lmdb_file.h>
#include <priornet/data/formats/lsun.h>

#include <set>
#include <system_error>

namespace priornet {
namespace {

constexpr auto kDatabase = "data.mdb";

bool is_database(const std::string& path) { return path == kDatabase || path.ends_with(std::string("/") + kDatabase); }

// The one database in a folder: itself, below NAME_lmdb, or in NAME_lmdb.zip; the folder where there is none.
std::filesystem::path locate(const std::filesystem::path& root) {
  std::error_code error;
  if (!std::filesystem::is_directory(root, error)) return root;
  if (std::filesystem::exists(root / kDatabase, error)) return root / kDatabase;
  std::set<std::filesystem::path> folders;
  std::set<std::filesystem::path> archives;
  for (auto at = std::filesystem::directory_iterator(root, error); !error && at != std::filesystem::end(at);
       at.increment(error)) {
    if (std::filesystem::exists(at->path() / kDatabase, error)) folders.insert(at->path() / kDatabase);
    if (at->path().string().ends_with("_lmdb.zip")) archives.insert(at->path());
  }
  const auto& found = folders.empty() ? archives : folders;
  if (found.size() > 1)
    throw DataError(fmt::format("{}: holds both {} and {}; which is meant?", root.string(), found.begin()->string(),
                                std::next(found.begin())->string()));
  return found.empty() ? root : *found.begin();
}

// A key may be any bytes: a message shows them escaped.
RecordVisitor adding_to(ImageCollector& collector, const std::string& name) {
  return [&collector, name](std::string_view key, std::string_view value) {
    collector.add(std::string(key), fmt::format("{}: key {:?}", name, key), std::string(value));
  };
}

}  // namespace

Dataset read_lsun(const std::filesystem::path& root, const ImageFolderOptions& options) {
  const auto source = locate(root);
  ImageCollector collector(options);
  if (is_database(source.generic_string())) {
    visit_lmdb(source, adding_to(collector, source.string()));
  } else {
    std::error_code ignored;
    bool found = false;
    if (is_archive(source) && std::filesystem::exists(source, ignored))
      visit_archive(source, is_database, [&](const std::string& path, ByteStream& bytes) {
        if (found) throw DataError(fmt::format("{}: holds a second database, {}", source.string(), path));
        found = true;
        visit_lmdb(bytes, adding_to(collector, bytes.name()));
      });
    if (!found) return read_flat_images(source, options);
  }
  return {root.string(), collector.finish(source.string()).images, {}, {}, {}};
}

}  // namespace priornet
