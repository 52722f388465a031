#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/lower_case.h>
#include <priornet/data/catalogue/modifiers.h>
#include <priornet/data/catalogue/path_set.h>
#include <priornet/data/catalogue/read_through_copy.h>
#include <priornet/data/files/archive.h>
#include <priornet/data/files/content_hash.h>
#include <priornet/data/files/file_tree.h>
#include <priornet/data/files/gzip.h>
#include <priornet/data/formats/array_set.h>
#include <priornet/data/formats/idx.h>
#include <priornet/data/formats/image_collection.h>
#include <priornet/data/formats/image_folder.h>
#include <priornet/data/formats/lsun.h>
#include <priornet/data/formats/svhn.h>
#include <priornet/data/formats/table.h>

#include <set>

namespace priornet {
namespace fs = std::filesystem;
namespace {

// "photos/" is the folder photos.
fs::path without_slash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

bool ends_with_or_gz(const std::string& name, std::string_view ending) {
  return name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz");
}

bool holds_database(const fs::path& path) { return fs::is_directory(path) && fs::exists(path / "data.mdb"); }

// Whether images lie in folders of their own. That an archive packs all of them in one folder says nothing.
bool has_class_folders(const fs::path& root) {
  std::set<std::string> folders;
  const auto note_folder = [&](const std::string& path) {
    if (is_image_path(path)) folders.insert(path.substr(0, path.find_last_of('/') + 1));
    return false;
  };
  visit_files(root, note_folder, [](const std::string&, ByteStream&) {});
  return folders.size() > 1 || (fs::is_directory(root) && !folders.empty() && !folders.contains(""));
}

Dataset read_images(const fs::path& path, const std::optional<ResizeOptions>& resize) {
  if (holds_database(path)) return read_lsun(path, {Channels::kAsStored, resize});
  const ImageFolderOptions options{Channels::kAsStored, resize};
  return has_class_folders(path) ? read_image_folder(path, options) : read_flat_images(path, options);
}

Dataset load_images(const std::string& copy, const fs::path& path, const std::optional<ResizeOptions>& resize,
                    const LoadOptions& options) {
  return read_through_copy({copy, path, source_files({}, path), 0, [&] { return read_images(path, resize); }}, options);
}

// Two folders of one name have copies of their own: the hash is that of the whole path.
std::string copy_of_path(const fs::path& path, const std::optional<ResizeOptions>& resize) {
  const auto whole = fs::weakly_canonical(path);
  return fmt::format("{}-{:016x}{}", whole.filename().string(), content_hash(whole.string()), resize_suffix(resize));
}

// train-images-idx3-ubyte has its labels in train-labels-idx1-ubyte.
Dataset read_idx_pair(const fs::path& path) {
  const auto images = without_gzip(path.filename().string());
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  auto labels = images;
  if (const auto at = labels.find("images"); at != std::string::npos) labels.replace(at, 6, "labels");
  if (const auto at = labels.find("idx3"); at != std::string::npos) labels.replace(at, 4, "idx1");
  if (labels != images && (fs::exists(folder / labels) || fs::exists(folder / (labels + ".gz")))) {
    std::vector<std::string> names;
    for (int label = 0; label < 256; ++label) names.push_back(std::to_string(label));
    auto set = read_idx_set(folder, {images, labels, names, 0, false});
    if (set.size() > 0) set.class_names.resize(static_cast<size_t>(set.labels.max().item<int64_t>() + 1));
    return set;
  }
  Dataset set;
  set.inputs = read_idx(*open_file(path));
  if (set.inputs.dim() == 3) set.inputs = set.inputs.unsqueeze(1);
  return set;
}

}  // namespace

Dataset load_path_set(const SetName& name, const LoadOptions& options) {
  const auto path = without_slash(name.set);
  if (!fs::exists(path)) throw DataError(fmt::format("{}: there is no such file or folder", name.set));
  const auto file = lower_case(path.filename().string());
  const bool is_table = ends_with_or_gz(file, ".csv");
  if (!name.label.empty() && !is_table)
    throw DataError(fmt::format("data set '{}': label= is for a .csv file", name.text));
  if (fs::is_directory(path) || is_archive(path)) {
    const auto resize = resize_on_reading(name, std::nullopt);
    return modified(load_images(copy_of_path(path, resize), path, resize, options), name, resize.has_value(), options);
  }
  const auto read = [&]() -> Dataset {
    if (is_table) return read_table(path, {name.label});
    if (file.ends_with(".npy") || file.ends_with(".npz")) return read_array_set(path);
    if (file.ends_with(".mat")) return read_svhn(path);
    if (file.find("idx") != std::string::npos) return read_idx_pair(path);
    throw DataError(fmt::format(
        "{}: should be a folder or an archive of images, .csv, .npy, .npz, .mat, or an IDX file (with idx in its name)",
        name.set));
  };
  auto set = read();
  set.name = name.text;
  check_dataset(set);
  return modified(std::move(set), name, false, options);
}

bool is_own_set(const std::string& name, const LoadOptions& options) {
  std::error_code ignored;
  return fs::is_directory(options.root / name, ignored) || copy_without_source(name, options).has_value();
}

Dataset load_own_set(const SetName& name, const LoadOptions& options) {
  const auto resize = resize_on_reading(name, std::nullopt);
  const auto copy = name.set + resize_suffix(resize);
  const auto folder = options.root / name.set;
  if (fs::is_directory(folder))
    return modified(load_images(copy, folder, resize, options), name, resize.has_value(), options);
  // A copy that was made without a resize can still be resized.
  if (auto resized = copy_without_source(copy, options))
    return modified(std::move(*resized), name, resize.has_value(), options);
  return modified(copy_without_source(name.set, options).value(), name, false, options);
}

}  // namespace priornet
