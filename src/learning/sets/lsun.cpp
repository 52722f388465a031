#include "learning/sets/path_set.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <set>
#include <system_error>

#include "learning/data/lmdb_file.h"
#include "learning/sets/families.h"
#include "learning/sets/image_folder.h"

namespace priornet {
namespace {

constexpr auto kDatabase = "data.mdb";

bool is_database(const std::string& path) { return path == kDatabase || path.ends_with(std::string("/") + kDatabase); }

// The one database in a folder: itself, below NAME_lmdb, or in NAME_lmdb.zip; the folder if there is none.
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
    throw DataError(fmt::format("{}: holds both {} and {}; remove one of them", root.string(), found.begin()->string(),
                                std::next(found.begin())->string()));
  return found.empty() ? root : *found.begin();
}

// A key may be any bytes, so messages show it escaped.
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

CatalogueEntry lsun_set() {
  CatalogueEntry entry;
  entry.name = "lsun";
  entry.title = "LSUN: photographs of scenes, colour, of many sizes, resized to 32x32 on reading";
  entry.homepage = "https://github.com/fyu/lsun";
  entry.terms = "No licence named; the photographs belong to others, and the authors ask to cite Yu et al., 2015";
  entry.files = {{"lsun/test_lmdb.zip", 0, "", "", {"http://dl.yf.io/lsun/scenes/test_lmdb.zip"}}};
  entry.locations = {{"lsun/test_lmdb", {"data.mdb"}},
                     {"test_lmdb", {"data.mdb"}},
                     {"lsun/test_lmdb.zip", {}},
                     {"test_lmdb.zip", {}},
                     {"lsun/test", {}}};
  // The images have many sizes; the paper's networks take 32x32.
  entry.parts = {{"test",
                  10'000,
                  {},
                  {},
                  ResizeOptions{32, 32, Resampling::kBilinear, true},
                  [](const auto& location, const auto& resize) {
                    return read_lsun(location, {Channels::kRgb, resize});
                  }}};
  entry.splits = {whole_part(entry.parts[0], "the scene test set")};
  return entry;
}

}  // namespace priornet
