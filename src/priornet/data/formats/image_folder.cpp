#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/formats/image_folder.h>

#include <algorithm>
#include <set>
#include <system_error>

namespace priornet {
namespace {

// The length of the folders, with their last '/', that all paths share and that still leave each a folder.
size_t shared_folders(const std::vector<std::string>& paths) {
  size_t shared = 0;
  while (true) {
    const auto end = paths.front().find('/', shared);
    if (end == std::string::npos) return shared;
    const auto folder = paths.front().substr(0, end + 1);
    const auto inside = [&](const std::string& path) {
      return path.starts_with(folder) && path.find('/', folder.size()) != std::string::npos;
    };
    if (!std::all_of(paths.begin(), paths.end(), inside)) return shared;
    shared = folder.size();
  }
}

// Parts of a set, each with the classes below, would be learnt as if they were the classes.
bool are_parts_of_a_set(const std::vector<std::string>& folders) {
  static const std::set<std::string> kParts{"train", "training", "test", "testing", "val", "valid", "validation"};
  return folders.size() > 1 &&
         std::all_of(folders.begin(), folders.end(), [](const std::string& name) { return kParts.contains(name); });
}

void check_no_class_is_empty(const std::filesystem::path& root, const std::set<std::string>& classes) {
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(root, error); !error && at != std::filesystem::end(at);
       at.increment(error)) {
    const auto name = at->path().filename().string();
    if (at->is_directory(error) && !name.starts_with(".") && !classes.contains(name))
      throw DataError(fmt::format("{}: a class folder should hold images, found none", at->path().string()));
  }
}

}  // namespace

void label_in_order(Dataset& set, const std::vector<std::string>& class_of_row) {
  set.labels = torch::empty({static_cast<int64_t>(class_of_row.size())}, torch::kInt64);
  set.class_names.clear();
  auto* label = set.labels.data_ptr<int64_t>();
  for (const auto& name : class_of_row) {
    if (set.class_names.empty() || set.class_names.back() != name) set.class_names.push_back(name);
    *label++ = set.num_classes() - 1;
  }
}

Dataset read_image_folder(const std::filesystem::path& root, const ImageFolderOptions& options) {
  std::error_code ignored;
  const bool on_disk = std::filesystem::is_directory(root, ignored);
  // By the class first: plain order would put a-b/1.png before a/1.png.
  const auto by_class = [](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char c, unsigned char d) {
      return (c == '/' ? 0 : c) < (d == '/' ? 0 : d);
    });
  };
  auto collection = collect_images(
      root, [](const std::string&) { return true; }, options, by_class);
  const auto skipped = on_disk ? 0 : shared_folders(collection.paths);
  std::vector<std::string> class_of_row;
  bool has_folders_below = true;
  for (const auto& path : collection.paths) {
    const auto end = path.find('/', skipped);
    if (end == std::string::npos)
      throw DataError(fmt::format("{}: image {} should lie in the folder of its class", root.string(), path));
    class_of_row.push_back(path.substr(skipped, end - skipped));
    has_folders_below = has_folders_below && path.find('/', end + 1) != std::string::npos;
  }
  Dataset set{root.string(), std::move(collection.images), {}, {}, {}};
  label_in_order(set, class_of_row);
  if (has_folders_below && are_parts_of_a_set(set.class_names))
    throw DataError(fmt::format("{}: holds {}, which are parts of a set and no classes: name one of them, as {}/{}",
                                set.name, fmt::join(set.class_names, " and "), set.name, set.class_names.front()));
  if (on_disk) check_no_class_is_empty(root, {set.class_names.begin(), set.class_names.end()});
  return set;
}

Dataset read_flat_images(const std::filesystem::path& root, const ImageFolderOptions& options) {
  auto collection = collect_images(
      root, [](const std::string&) { return true; }, options);
  return {root.string(), std::move(collection.images), {}, {}, {}};
}

}  // namespace priornet
