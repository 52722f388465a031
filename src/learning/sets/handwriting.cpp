#include "learning/sets/families.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "learning/data/byte_stream.h"
#include "learning/data/file_tree.h"
#include "learning/sets/image_folder.h"

namespace priornet {
namespace {

constexpr int kPixels = 256;
constexpr int kDigits = 10;
constexpr int64_t kLargestText = int64_t{1} << 30;  // the published file has 3 MB

class LineReader {
 public:
  LineReader(const std::string& name, std::string_view text) : name_(name), left_(text) {}

  /// Reads a line's pixels and returns its digit.
  int64_t read(uint8_t* pixels) {
    ++line_;
    for (int i = 0; i < kPixels; ++i) pixels[i] = take_flag(i) ? 255 : 0;
    int64_t digit = -1;
    for (int i = 0; i < kDigits; ++i) {
      if (!take_flag(kPixels + i)) continue;
      if (digit >= 0) fail(fmt::format("is both a {} and a {}", digit, i));
      digit = i;
    }
    if (digit < 0) fail("has no digit: all of its last 10 values are 0");
    skip_spaces();
    if (!left_.empty() && left_.front() != '\n') fail(fmt::format("has more than {} values", kPixels + kDigits));
    left_.remove_prefix(std::min<size_t>(1, left_.size()));
    return digit;
  }

 private:
  void skip_spaces() {
    size_t spaces = 0;
    while (spaces < left_.size() && (left_[spaces] == ' ' || left_[spaces] == '\t' || left_[spaces] == '\r')) ++spaces;
    left_.remove_prefix(spaces);
  }

  // 0 or 1, with any number of zeros after a point.
  bool take_flag(int index) {
    skip_spaces();
    if (left_.empty() || left_.front() == '\n') fail(fmt::format("has {} values: wanted {}", index, kPixels + kDigits));
    const char digit = left_.front();
    size_t length = 1;
    if (left_.substr(1).starts_with('.')) length = std::min(left_.find_first_not_of('0', 2), left_.size());
    const bool ends =
        length == left_.size() || std::string_view(" \t\r\n").find(left_[length]) != std::string_view::npos;
    if (!ends || (digit != '0' && digit != '1')) {
      const auto word = left_.substr(0, std::min<size_t>(20, left_.find_first_of(" \t\r\n")));
      fail(fmt::format("has \"{}\" as value {} (from 1): wanted 0 or 1", word, index + 1));
    }
    left_.remove_prefix(length);
    return digit == '1';
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}: line {} {}", name_, line_, what));
  }

  const std::string& name_;
  std::string_view left_;
  int64_t line_ = 0;
};

}  // namespace

Dataset read_semeion(const std::filesystem::path& root) {
  Dataset set;
  visit_named_files(root, {"semeion.data"}, [&](size_t, ByteStream& bytes) { set = read_semeion(bytes); });
  set.name = root.string();
  return set;
}

Dataset read_semeion(ByteStream& bytes) {
  auto text = bytes.read_rest(kLargestText);
  const auto last = text.find_last_not_of(" \t\r\n");
  text.resize(last == std::string::npos ? 0 : last + 1);
  if (text.empty()) throw DataError(fmt::format("{}: is empty", bytes.name()));
  // A line takes at least two characters per value. No memory is taken for more lines than the text can hold; reading
  // them fails.
  const auto lines = std::min<int64_t>(std::count(text.begin(), text.end(), '\n') + 1,
                                       static_cast<int64_t>(text.size()) / (2 * kPixels) + 1);
  auto images = memory_for(bytes.name(), {lines, 1, 16, 16}, torch::kUInt8);
  auto labels = memory_for(bytes.name(), {lines}, torch::kInt64);
  LineReader reader(bytes.name(), text);
  for (int64_t row = 0; row < lines; ++row)
    labels.data_ptr<int64_t>()[row] = reader.read(images.data_ptr<uint8_t>() + row * kPixels);
  return {bytes.name(), images, labels, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, {}};
}

CatalogueEntry semeion_set() {
  CatalogueEntry entry;
  entry.name = "semeion";
  entry.title = "SEMEION: handwritten digits, 16x16 black and white, white on black";
  entry.homepage = "https://archive.ics.uci.edu/dataset/178/semeion+handwritten+digit";
  entry.terms = "UCI Machine Learning Repository: cite it and the Semeion Research Center of Sciences of Communication";
  entry.files = {{"semeion/semeion.data",
                  2'889'702,
                  "f43228ae3da5ea6a3c95069d53450b86166770e3b719dcc333182128fe08d4b1",
                  "",
                  {"https://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data",
                   "http://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data"}}};
  entry.locations = {{"semeion", {"semeion.data"}}, {"SEMEION", {"semeion.data"}}, {".", {"semeion.data"}}};
  entry.parts = {{"all", 1'593, {"semeion.data"}, digit_names(), std::nullopt, [](const auto& location, const auto&) {
                    return read_semeion(location / "semeion.data");
                  }}};
  entry.splits = {whole_part(entry.parts[0], "the whole file")};
  return entry;
}

namespace {

constexpr int64_t kDrawingSide = 105;

// The folder or archive of a part.
std::filesystem::path locate(const std::filesystem::path& root, const std::string& part) {
  std::error_code ignored;
  const auto name = root.filename().empty() ? root.parent_path().filename() : root.filename();
  const std::filesystem::path zip = part + ".zip";
  if (name == part || name == zip) return root;
  for (const auto& candidate : {root / part, root / zip})
    if (std::filesystem::exists(candidate, ignored)) return candidate;
  throw DataError(fmt::format("{}: holds neither {} nor {}, a part of OMNIGLOT", root.string(), part, zip.string()));
}

// "Greek/character01" for "images_background/Greek/character01/0394_01.png"; empty if the path has another form.
std::string character_of(std::string path, const std::string& part) {
  if (path.starts_with(part + "/")) path.erase(0, part.size() + 1);
  if (std::count(path.begin(), path.end(), '/') != 2) return "";
  return path.substr(0, path.rfind('/'));
}

Dataset read_part(const std::filesystem::path& root, const std::string& part) {
  const auto source = locate(root, part);
  ImageFolderOptions options;
  options.channels = Channels::kGrey;
  auto collection = collect_images(
      source, [&](const std::string& path) { return !character_of(path, part).empty(); }, options);
  Dataset set{source.string(), std::move(collection.images), {}, {}, {}};
  if (set.inputs.size(2) != kDrawingSide || set.inputs.size(3) != kDrawingSide)
    throw DataError(fmt::format("{}: drawings of OMNIGLOT should be {}x{} pixels, found {}x{}", set.name, kDrawingSide,
                                kDrawingSide, set.inputs.size(3), set.inputs.size(2)));
  std::vector<std::string> characters;
  for (const auto& path : collection.paths) characters.push_back(character_of(path, part));
  label_in_order(set, characters);
  return set;
}

}  // namespace

Dataset read_omniglot(const std::filesystem::path& root, OmniglotPart part) {
  if (part == OmniglotPart::kBackground) return read_part(root, "images_background");
  if (part == OmniglotPart::kEvaluation) return read_part(root, "images_evaluation");
  auto set = read_part(root, "images_background");
  const auto evaluation = read_part(root, "images_evaluation");
  set.name = root.string();
  set.inputs = torch::cat({set.inputs, evaluation.inputs});
  set.labels = torch::cat({set.labels, evaluation.labels + set.num_classes()});
  set.class_names.insert(set.class_names.end(), evaluation.class_names.begin(), evaluation.class_names.end());
  return set;
}

CatalogueEntry omniglot_set() {
  CatalogueEntry entry;
  entry.name = "omniglot";
  entry.title = "OMNIGLOT: 1,623 characters of 50 alphabets, 105x105, black on white";
  entry.homepage = "https://github.com/brendenlake/omniglot";
  entry.terms = "MIT licence";
  const std::vector<std::string> sources = {"https://github.com/brendenlake/omniglot/raw/master/python/",
                                            "https://raw.githubusercontent.com/brendenlake/omniglot/master/python/"};
  entry.files = {{"omniglot/images_background.zip",
                  9'464'212,
                  "ad41ab679c8b5d90b271ef46be6987cc81211774a695c29dcc5367b2b26ee640",
                  "",
                  {}},
                 {"omniglot/images_evaluation.zip",
                  6'462'886,
                  "1f61a8f3366785b057fc117d9228e78a16e3d976c8953b2a10fcc74cf0609cee",
                  "",
                  {}}};
  for (auto& file : entry.files)
    for (const auto& source : sources)
      file.urls.push_back(source + std::filesystem::path(file.path).filename().string());
  const std::vector<std::string> contents = {"images_background", "images_evaluation", "images_background.zip",
                                             "images_evaluation.zip"};
  entry.locations = {{"omniglot", contents}, {"omniglot-py", contents}, {".", contents}};
  entry.parts = {{"background",
                  19'280,
                  {"images_background"},
                  {},
                  std::nullopt,
                  [](const auto& location, const auto&) { return read_omniglot(location, OmniglotPart::kBackground); }},
                 {"evaluation", 13'180, {"images_evaluation"}, {}, std::nullopt, [](const auto& location, const auto&) {
                    return read_omniglot(location, OmniglotPart::kEvaluation);
                  }}};
  entry.splits = {
      {"all", 32'460, "background, then evaluation", {{"background", 0, 19'280}, {"evaluation", 0, 13'180}}},
      whole_part(entry.parts[0], "964 characters of 30 alphabets"),
      whole_part(entry.parts[1], "659 characters of 20 alphabets")};
  return entry;
}

}  // namespace priornet
