#include "learning/sets/families.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "learning/data/file_tree.h"
#include "learning/sets/image_folder.h"

namespace priornet {
namespace {

// Calls take(line, number from 1) for every line that is not empty.
template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) take(line, number);
  }
}

std::string_view take_field(std::string_view& line) {
  const auto end = std::min(line.find('\t'), line.size());
  const auto field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

// The text files. Lines may end in \n or \r\n; empty ones are skipped. `name` begins messages.

/// 'n' and eight digits, which name a meaning in WordNet: n02123045.
bool is_wordnet_id(std::string_view text) {
  return text.size() == 9 && text.front() == 'n' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// wnids.txt: one id per line. DataError for anything else, or for an id that stands there twice.
std::vector<std::string> parse_wnids(const std::string& name, std::string_view text) {
  std::vector<std::string> ids;
  std::set<std::string_view> seen;
  for_each_line(text, [&](std::string_view line, int64_t number) {
    if (!is_wordnet_id(line))
      throw DataError(
          fmt::format("{}: line {} should be a WordNet id such as n02123045, found {:?}", name, number, line));
    if (!seen.insert(line).second) throw DataError(fmt::format("{}: line {} repeats {}", name, number, line));
    ids.emplace_back(line);
  });
  return ids;
}

/// val_annotations.txt: image and id, then a box that is not used here, with tabs between. By image.
std::map<std::string, std::string> parse_annotations(const std::string& name, std::string_view text) {
  std::map<std::string, std::string> id_of;
  for_each_line(text, [&](std::string_view line, int64_t number) {
    auto rest = line;
    const auto image = take_field(rest);
    const auto id = take_field(rest);
    if (image.empty() || !is_wordnet_id(id))
      throw DataError(fmt::format("{}: line {} should hold an image and a WordNet id with a tab between, found {:?}",
                                  name, number, line));
    if (!id_of.try_emplace(std::string(image), id).second)
      throw DataError(fmt::format("{}: line {} annotates {} again", name, number, image));
  });
  return id_of;
}

/// words.txt: id, a tab, and its meaning. The wanted ids, by id; other lines are skipped.
std::map<std::string, std::string> parse_words(std::string_view text, const std::vector<std::string>& wanted) {
  const std::set<std::string_view> ids(wanted.begin(), wanted.end());
  std::map<std::string, std::string> words;
  for_each_line(text, [&](std::string_view line, int64_t) {
    const auto id = take_field(line);
    if (ids.contains(id) && !line.empty()) words.try_emplace(std::string(id), line);
  });
  return words;
}

constexpr int64_t kMostText = int64_t{1} << 26;
constexpr std::string_view kFolder = "tiny-imagenet-200/";

std::string below_folder(const std::string& path) {
  return path.starts_with(kFolder) ? path.substr(kFolder.size()) : path;
}

struct TextFile {
  std::string name;  ///< for messages; empty if it is missing
  std::string text;
};

struct TextFiles {
  TextFile ids, words, annotations;
};

constexpr auto kIds = "wnids.txt";
constexpr auto kWords = "words.txt";
constexpr auto kAnnotations = "val/val_annotations.txt";

TextFile* text_file_of(TextFiles& files, const std::string& path) {
  if (path == kIds) return &files.ids;
  if (path == kWords) return &files.words;
  return path == kAnnotations ? &files.annotations : nullptr;
}

// From a folder they are opened by name: walking past 120,000 images would cost more than reading the files.
TextFiles read_texts(const std::filesystem::path& root, bool on_disk) {
  TextFiles files;
  std::error_code ignored;
  const auto take = [&](const std::string& path, ByteStream& bytes) {
    *text_file_of(files, below_folder(path)) = {bytes.name(), bytes.read_rest(kMostText)};
  };
  if (on_disk) {
    for (const auto* path : {kIds, kWords, kAnnotations})
      if (std::filesystem::exists(root / path, ignored)) take(path, *open_file(root / path));
  } else {
    visit_files(
        root, [&](const std::string& path) { return text_file_of(files, below_folder(path)) != nullptr; }, take);
  }
  return files;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The class comes first in "n02123045/images/n02123045_0.JPEG" and "n02123045/val_7.JPEG", below their part.
std::string id_in(const std::string& path) { return path.substr(0, path.find('/')); }

std::vector<std::string> id_of_each(const std::filesystem::path& root, const std::vector<std::string>& paths,
                                    const TextFile& annotations, bool annotated) {
  std::vector<std::string> ids;
  if (!annotated) {
    for (const auto& path : paths) {
      ids.push_back(id_in(path));
      if (!is_wordnet_id(ids.back()))
        throw DataError(
            fmt::format("{}: image {} does not lie in a folder with the name of its class, such as n02123045",
                        root.string(), path));
    }
    return ids;
  }
  auto id_of = parse_annotations(annotations.name, annotations.text);
  for (const auto& path : paths) {
    const auto node = id_of.extract(last_part(path));
    if (node.empty()) throw DataError(fmt::format("{}: has no line for image {}", annotations.name, last_part(path)));
    ids.push_back(node.mapped());
  }
  if (!id_of.empty())
    throw DataError(fmt::format("{}: image {} is missing, but it has a line in {}", root.string(), id_of.begin()->first,
                                annotations.name));
  return ids;
}

void add_labels(Dataset& set, const std::vector<std::string>& ids, const TextFiles& texts) {
  auto classes = parse_wnids(texts.ids.name, texts.ids.text);
  if (classes.empty()) {
    const std::set<std::string> found(ids.begin(), ids.end());
    classes.assign(found.begin(), found.end());
  }
  std::map<std::string, int64_t> label_of;
  for (const auto& id : classes) label_of.try_emplace(id, static_cast<int64_t>(label_of.size()));
  set.labels = torch::empty({static_cast<int64_t>(ids.size())}, torch::kInt64);
  auto* label = set.labels.data_ptr<int64_t>();
  for (const auto& id : ids) {
    const auto found = label_of.find(id);
    if (found == label_of.end())
      throw DataError(fmt::format("{}: should hold the class {} of an image", texts.ids.name, id));
    *label++ = found->second;
  }
  const auto words = parse_words(texts.words.text, classes);
  for (const auto& id : classes) {
    const auto meaning = words.find(id);
    set.class_names.push_back(meaning == words.end() ? id : id + " " + meaning->second);
  }
}

}  // namespace

Dataset read_tiny_imagenet(const std::filesystem::path& root, TinyImageNetPart part) {
  const std::string folder = part == TinyImageNetPart::kTrain  ? "train/"
                             : part == TinyImageNetPart::kTest ? "test/"
                                                               : "val/";
  std::error_code ignored;
  const auto source = std::filesystem::is_directory(root / kFolder, ignored) ? root / "tiny-imagenet-200" : root;
  const bool on_disk = std::filesystem::is_directory(source, ignored);
  if (on_disk && !std::filesystem::exists(source / folder, ignored))
    throw DataError(fmt::format("{}: holds no folder {}, a part of TinyImageNet", source.string(), folder));
  ImageFolderOptions options;
  options.channels = Channels::kRgb;
  auto collection = collect_images(
      on_disk ? source / folder : source,
      [&](const std::string& path) { return on_disk || below_folder(path).starts_with(folder); }, options,
      natural_less);
  if (!on_disk)
    for (auto& path : collection.paths) path = below_folder(path).substr(folder.size());
  Dataset set{root.string(), std::move(collection.images), {}, {}, {}};
  if (part == TinyImageNetPart::kTest) return set;
  const auto texts = read_texts(source, on_disk);
  const bool annotated = part == TinyImageNetPart::kValidation && !texts.annotations.name.empty();
  add_labels(set, id_of_each(source, collection.paths, texts.annotations, annotated), texts);
  return set;
}

namespace {

SetPart part_of(const std::string& name, int64_t count, const std::vector<std::string>& files, TinyImageNetPart which) {
  return {name,         count,
          files,        {},
          std::nullopt, [which](const auto& location, const auto&) { return read_tiny_imagenet(location, which); }};
}

}  // namespace

CatalogueEntry tiny_imagenet_set() {
  CatalogueEntry entry;
  entry.name = "tinyimagenet";
  entry.title = "TinyImageNet: photographs of 200 kinds of things, 64x64 colour";
  entry.homepage = "http://cs231n.stanford.edu/";
  entry.terms = "Taken from ImageNet, whose terms allow non-commercial research and education only";
  entry.show_terms = true;
  entry.files = {
      {"tiny-imagenet-200.zip",
       248'100'043,
       "",
       "90528d7ca1a48142e341f4ef8d21d0de",
       {"http://cs231n.stanford.edu/tiny-imagenet-200.zip", "https://image-net.org/data/tiny-imagenet-200.zip"}}};
  const std::vector<std::string> contents = {"test/images", "val/images", "train"};
  entry.locations = {{"tiny-imagenet-200", contents},
                     {"tinyimagenet/tiny-imagenet-200", contents},
                     {"tinyimagenet", contents},
                     {"tiny-imagenet-200.zip", {}},
                     {"tinyimagenet/tiny-imagenet-200.zip", {}}};
  const std::string ids = "wnids.txt", words = "words.txt";
  entry.parts = {
      part_of("test", 10'000, {"test/images"}, TinyImageNetPart::kTest),
      part_of("val", 10'000, {"val/images", "val/val_annotations.txt", ids, words}, TinyImageNetPart::kValidation),
      part_of("train", 100'000, {"train", ids, words}, TinyImageNetPart::kTrain)};
  entry.splits = {whole_part(entry.parts[0], "test/images, which have no labels"),
                  whole_part(entry.parts[1], "val/images with their annotations"),
                  whole_part(entry.parts[2], "500 images per class")};
  return entry;
}

}  // namespace priornet
