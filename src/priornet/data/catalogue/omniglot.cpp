#include <priornet/data/catalogue/families.h>
#include <priornet/data/formats/omniglot.h>

namespace priornet {

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
