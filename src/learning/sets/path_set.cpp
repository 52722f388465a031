#include "learning/sets/path_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/catalogue.h>
#include <priornet/learning/class_overlap.h>
#include <priornet/learning/columns.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <set>

#include "learning/base/file_io.h"
#include "learning/base/names.h"
#include "learning/data/archive.h"
#include "learning/data/byte_stream.h"
#include "learning/data/file_tree.h"
#include "learning/data/npy.h"
#include "learning/sets/families.h"
#include "learning/sets/image_folder.h"
#include "learning/sets/prepared_copy.h"
#include "learning/sets/table_set.h"

namespace priornet {
namespace fs = std::filesystem;
namespace {

// "photos/" is the folder photos.
fs::path without_slash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

bool ends_with_or_gz(const std::string& name, std::string_view ending) {
  return name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz");
}

bool holds_database(const fs::path& path) { return fs::is_directory(path) && fs::exists(path / "data.mdb"); }

// Whether images lie in folders of their own. One folder around a whole archive does not count.
bool has_class_folders(const fs::path& root) {
  std::set<std::string> folders;
  const auto note_folder = [&](const std::string& path) {
    if (is_image_path(path)) folders.insert(path.substr(0, path.find_last_of('/') + 1));
    return false;
  };
  const auto say_nothing_yet = [](const std::string&, const DataError&) {};
  visit_files(
      root, note_folder, [](const std::string&, ByteStream&) {}, say_nothing_yet);
  return folders.size() > 1 || (fs::is_directory(root) && !folders.empty() && !folders.contains(""));
}

Dataset read_images(const fs::path& path, const std::optional<ResizeOptions>& resize, SetFiles& files,
                    GrowingTensorFile* pixels) {
  if (holds_database(path)) return read_lsun(path, {Channels::kAsStored, resize, nullptr, pixels});
  const ImageFolderOptions options{Channels::kAsStored, resize, &files, pixels};
  return has_class_folders(path) ? read_image_folder(path, options) : read_flat_images(path, options);
}

// One damaged image does not stop anybody, and one in a hundred is normal; with more, the folder is not what its owner
// thinks.
void check_left_out(const fs::path& path, int64_t images, const std::vector<LeftOut>& left_out, bool strict) {
  std::vector<std::string> faults;
  for (const auto& one : left_out) {
    if (one.kind == LeftOut::Kind::kFault) faults.push_back(fmt::format("{}: {}", one.path, one.why));
    if (strict && one.kind != LeftOut::Kind::kNoImage)
      throw DataError(fmt::format("{}: {}", (path / one.path).string(), one.why));
  }
  const auto count = static_cast<int64_t>(faults.size());
  const auto all = images + count;
  if (count <= 1 || 100 * count <= all) return;
  constexpr size_t kShown = 3;
  const auto more = faults.size() > kShown ? fmt::format("; and {} more", faults.size() - kShown) : "";
  faults.resize(std::min(faults.size(), kShown));
  throw DataError(fmt::format("{}: {} of {} images cannot be used, which is more than 1 %; repair or remove them: {}{}",
                              path.string(), count, all, fmt::join(faults, "; "), more));
}

Dataset load_images(const std::string& copy, const fs::path& path, const std::optional<ResizeOptions>& resize,
                    const LoadOptions& options) {
  SetFiles files;
  GrowingTensorFile pixels(prepared_copy_file(options.root, copy));
  auto* const into = options.prepared_copies ? &pixels : nullptr;
  auto set = read_through_copy(
      {copy, path, source_files({}, path), 0, [&] { return read_images(path, resize, files, into); }, &files, into},
      options);
  check_left_out(path, set.size(), files.left_out, options.strict);
  if (options.files != nullptr) *options.files = std::move(files);
  return set;
}

// The files of a set match its rows until a modifier selects rows.
Dataset modified_images(Dataset set, const SetName& name, bool is_resized, const LoadOptions& options) {
  using Kind = SetModifier::Kind;
  const bool chooses = std::any_of(name.modifiers.begin(), name.modifiers.end(), [](const SetModifier& modifier) {
    return modifier.kind == Kind::kSubset || modifier.kind == Kind::kFirst || modifier.kind == Kind::kLast ||
           modifier.kind == Kind::kRepeat || modifier.kind == Kind::kClasses || modifier.kind == Kind::kWithout;
  });
  if (chooses && options.files != nullptr) options.files->rows.clear();
  return modified(std::move(set), name, is_resized, options);
}

// Two folders of the same name have copies of their own: the hash is that of the whole path.
std::string copy_of_path(const fs::path& path, const std::optional<ResizeOptions>& resize) {
  const auto whole = fs::weakly_canonical(path);
  return fmt::format("{}-{:016x}{}", whole.filename().string(), content_hash(whole.string()), resize_suffix(resize));
}

// The labels of train-images-idx3-ubyte are in train-labels-idx1-ubyte.
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

// Kinds of tables that this program does not read, with the line that turns each into a CSV.
void refuse_other_table(const std::string& path, const std::string& file) {
  for (const auto& [ending, reader] : {std::pair{".parquet", "read_parquet"},
                                       {".feather", "read_feather"},
                                       {".arrow", "read_feather"},
                                       {".xlsx", "read_excel"},
                                       {".xls", "read_excel"}})
    if (file.ends_with(ending))
      throw DataError(
          fmt::format("{0}: {1} files cannot be read; this command makes a table from it: python3 -c \"import pandas; "
                      "pandas.{2}('{0}').to_csv('{3}.csv.gz', index=False)\"",
                      path, ending, reader, fs::path(path).replace_extension().string()));
}

}  // namespace

bool is_table_path(const std::string& path) {
  const auto name = lower_case(path);
  return ends_with_or_gz(name, ".csv") || ends_with_or_gz(name, ".tsv");
}

Dataset load_path_set(const SetName& name, const LoadOptions& options) {
  const auto path = without_slash(name.set);
  if (!fs::exists(path)) throw DataError(fmt::format("{}: there is no such file or folder", name.set));
  const auto file = lower_case(path.filename().string());
  const bool is_table = is_table_path(file);
  if (!fs::is_directory(path)) refuse_other_table(name.set, file);
  if (!is_table && !(name.label.empty() && name.drop.empty() && name.categorical.empty() && name.numeric.empty()))
    throw DataError(
        fmt::format("data set '{}': label=, drop=, categorical= and numeric= are for a .csv or .tsv file", name.text));
  if (fs::is_directory(path) || is_archive(path)) {
    const auto resize = resize_on_reading(name, std::nullopt);
    return modified_images(load_images(copy_of_path(path, resize), path, resize, options), name, resize.has_value(),
                           options);
  }
  const auto read = [&]() -> Dataset {
    if (is_table)
      return read_table(path,
                        {name.label, name.drop, name.categorical, name.numeric, options.encoding.get(), options.notes});
    if (file.ends_with(".npy") || file.ends_with(".npz")) return read_array_set(path);
    if (file.ends_with(".mat")) return read_svhn(path);
    if (file.find("idx") != std::string::npos) return read_idx_pair(path);
    throw DataError(fmt::format(
        "{}: should be a folder or an archive of images, .csv, .tsv, .npy, .npz, .mat, or an IDX file (with idx in its "
        "name)",
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
    return modified_images(load_images(copy, folder, resize, options), name, resize.has_value(), options);
  // A copy that was made without a resize can still be resized.
  if (auto resized = copy_without_source(copy, options))
    return modified(std::move(*resized), name, resize.has_value(), options);
  return modified(copy_without_source(name.set, options).value(), name, false, options);
}

namespace {

using Kind = SetModifier::Kind;
using Names = std::vector<std::string>;

[[noreturn]] void fail(const SetName& name, const std::string& what) {
  throw DataError(fmt::format("data set '{}': {}", name.text, what));
}

void need_labels(const Dataset& set, const SetName& name, const char* modifier) {
  if (!set.has_labels()) fail(name, fmt::format("{}= needs labels, and the set has none", modifier));
}

Dataset with_images(Dataset set, torch::Tensor images) {
  set.inputs = std::move(images);
  return set;
}

void check_count(const Dataset& set, const SetName& name, const char* modifier, int64_t count) {
  if (count > set.size())
    fail(name, fmt::format("{}={} asks for more rows than there are ({})", modifier, count, set.size()));
}

Dataset only_classes(const Dataset& set, const SetName& name, const Names& wanted) {
  need_labels(set, name, "classes");
  for (const auto& one : wanted)
    if (std::find(set.class_names.begin(), set.class_names.end(), one) == set.class_names.end())
      fail(name, fmt::format("there is no class {} (there are {})", one, fmt::join(set.class_names, ", ")));
  Names others;
  for (const auto& one : set.class_names)
    if (std::find(wanted.begin(), wanted.end(), one) == wanted.end()) others.push_back(one);
  return others.empty() ? set : without_classes(set, others);
}

// From the catalogue if it has them, because the other set need not be there.
Names class_names_of(const std::string& other, const LoadOptions& options) {
  const auto other_name = parse_set_name(other);
  if (!other_name.is_path) {
    const auto& entry = entry_named(other_name.set);
    const auto& part = part_named(entry, split_named(entry, other_name.split).rows.front().part);
    if (!part.class_names.empty()) return part.class_names;
  }
  auto silent = options;
  silent.files = nullptr;
  return load_set(other_name, silent).class_names;
}

Dataset without_overlap(const Dataset& set, const SetName& name, const std::string& other, const LoadOptions& options) {
  need_labels(set, name, "without");
  const auto shared = overlapping_classes(set.class_names, class_names_of(other, options));
  if (shared.size() == set.class_names.size()) fail(name, fmt::format("without={} leaves no class", other));
  return shared.empty() ? set : without_classes(set, shared);
}

Dataset modified(Dataset set, const SetName& name, const SetModifier& modifier, const LoadOptions& options) {
  const auto n = modifier.number;
  switch (modifier.kind) {
    case Kind::kInvert:
      return with_images(set, invert(set.inputs));
    case Kind::kGrey:
      return with_images(set, to_grey(set.inputs));
    case Kind::kRgb:
      return with_images(set, to_rgb(set.inputs));
    case Kind::kSize:
      return with_images(set, resize(set.inputs, name.resize_to(modifier.height, modifier.width)));
    case Kind::kPad:
      return with_images(set, pad(set.inputs, Padding{n, n, n, n, 0}));
    case Kind::kSubset:
      check_count(set, name, "subset", n);
      return random_subset(set, n, name.seed.value_or(0));
    case Kind::kFirst:
      check_count(set, name, "first", n);
      return slice(set, 0, n);
    case Kind::kLast:
      check_count(set, name, "last", n);
      return slice(set, set.size() - n, n);
    case Kind::kRepeat: {
      auto repeated = select(set, torch::arange(set.size(), torch::kInt64).repeat({n}));
      repeated.copies = n * set.copies;
      return repeated;
    }
    case Kind::kClasses:
      return only_classes(set, name, modifier.names);
    case Kind::kWithout:
      return without_overlap(set, name, modifier.names.front(), options);
  }
  return set;
}

bool is_for_images(Kind kind) {
  return kind == Kind::kInvert || kind == Kind::kGrey || kind == Kind::kRgb || kind == Kind::kSize ||
         kind == Kind::kPad;
}

}  // namespace

Dataset modified(Dataset set, const SetName& name, bool is_resized, const LoadOptions& options) {
  set.name = name.text;
  bool has_size = is_resized;
  for (const auto& modifier : name.modifiers) {
    const bool is_size = modifier.kind == Kind::kSize;
    has_size = has_size || is_size;
    if (is_size && is_resized) {  // the reader did it; a second size resizes again
      is_resized = false;
      continue;
    }
    if (is_for_images(modifier.kind) && !set.has_images())
      fail(name, "invert, grey, rgb, size= and pad= are for images, but the set holds numbers");
    set = modified(std::move(set), name, modifier, options);
  }
  if ((name.resampling || name.antialias || name.grid) && !has_size)
    fail(name, "resample=, antialias= and grid= need a size=");
  return set;
}

std::optional<ResizeOptions> resize_on_reading(const SetName& name, const std::optional<ResizeOptions>& otherwise) {
  const auto fallback = otherwise.value_or(ResizeOptions{});
  for (const auto& modifier : name.modifiers)
    if (modifier.kind == Kind::kSize) return name.resize_to(modifier.height, modifier.width, fallback);
  if (!otherwise) return std::nullopt;
  return name.resize_to(otherwise->height, otherwise->width, fallback);
}

namespace {

constexpr int64_t kMostClasses = 65536;  // one wrong label must not make a million names

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw DataError(fmt::format("{}: {}", name, what));
}

torch::Tensor to_numbers(const std::string& name, const torch::Tensor& values) {
  auto numbers = values.to(torch::kFloat32);
  if (const auto wrong = numbers.isfinite().logical_not().nonzero(); wrong.size(0) > 0)
    fail(name, fmt::format("inputs[{}, {}] is not a finite float32", wrong[0][0].item<int64_t>(),
                           wrong[0][1].item<int64_t>()));
  return numbers;
}

torch::Tensor to_inputs(const std::string& name, const torch::Tensor& values) {
  const auto type = values.scalar_type();
  const bool bytes = type == torch::kUInt8 && (values.dim() == 3 || values.dim() == 4);
  const bool numbers = (type == torch::kFloat32 || type == torch::kFloat64) && values.dim() == 2;
  if ((!bytes && !numbers) || values.numel() == 0)
    fail(name, fmt::format("inputs are {} [{}]: wanted images, uint8 [N, C, H, W] or [N, H, W], or numbers, float32 "
                           "or float64 [N, D], at least one",
                           c10::toString(type), fmt::join(values.sizes().begin(), values.sizes().end(), ", ")));
  if (numbers) return to_numbers(name, values);
  const auto is_colour = [&](int64_t dim) {
    return values.size(dim) == 1 || values.size(dim) == 3 || values.size(dim) == 4;
  };
  if (values.dim() == 4 && is_colour(3) && !is_colour(1))
    fail(name, fmt::format("inputs are [{}], which looks like [N, H, W, C]: wanted images [N, C, H, W]; in NumPy, "
                           "images.transpose(0, 3, 1, 2)",
                           fmt::join(values.sizes().begin(), values.sizes().end(), ", ")));
  return values.dim() == 3 ? values.unsqueeze(1) : values;
}

torch::Tensor to_labels(const std::string& name, const torch::Tensor& values, int64_t rows) {
  if (!c10::isIntegralType(values.scalar_type(), false) || values.dim() != 1 || values.size(0) != rows)
    fail(name, fmt::format("labels are {} [{}]: wanted integers [{}]", c10::toString(values.scalar_type()),
                           fmt::join(values.sizes().begin(), values.sizes().end(), ", "), rows));
  auto labels = values.to(torch::kInt64);
  const auto wrong = labels.lt(0).logical_or(labels.ge(kMostClasses)).nonzero();
  if (wrong.size(0) > 0) {
    const auto row = wrong[0].item<int64_t>();
    fail(name, fmt::format("label {} of row {} (counted from 0) should be in [0, {})", labels[row].item<int64_t>(), row,
                           kMostClasses));
  }
  return labels;
}

}  // namespace

Dataset read_array_set(const std::filesystem::path& path) {
  const auto name = path.string();
  if (format_of(path, {FileFormat::kNpz, FileFormat::kNpy}) == FileFormat::kNpy)
    return {name, to_inputs(name, read_npy(path)), {}, {}, {}};
  const auto arrays = npz_names(path);
  const auto holds = [&](const char* array) { return std::find(arrays.begin(), arrays.end(), array) != arrays.end(); };
  if (holds("inputs") == holds("images"))
    fail(name, fmt::format("wanted an array inputs or an array images, found {}",
                           holds("inputs") ? "both" : fmt::format("{}", fmt::join(arrays, ", "))));
  Dataset set{name, to_inputs(name, read_npz(path, holds("inputs") ? "inputs" : "images")), {}, {}, {}};
  if (!holds("labels")) return set;
  set.labels = to_labels(name, read_npz(path, "labels"), set.size());
  for (int64_t i = 0; i <= set.labels.max().item<int64_t>(); ++i) set.class_names.push_back(std::to_string(i));
  return set;
}

}  // namespace priornet
