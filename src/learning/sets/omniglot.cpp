#include "learning/sets/omniglot.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <system_error>

#include "learning/sets/families.h"
#include "learning/sets/image_folder.h"

namespace priornet {
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

// "Greek/character01" of "images_background/Greek/character01/0394_01.png"; empty if the path is of another form.
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
