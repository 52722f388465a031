#include <priornet/data/catalogue/families.h>
#include <priornet/data/formats/svhn.h>

namespace priornet {
namespace {

struct FileFacts {
  std::string part;
  std::string file;
  int64_t count;
  int64_t size;
  std::string sha256;
};

}  // namespace

CatalogueEntry svhn_set() {
  CatalogueEntry entry;
  entry.name = "svhn";
  entry.title = "SVHN: house numbers cropped to a digit, 32x32 colour";
  entry.homepage = "http://ufldl.stanford.edu/housenumbers/";
  entry.terms = "For non-commercial use only";
  entry.show_terms = true;
  const std::vector<FileFacts> files = {{"train", "train_32x32.mat", 73'257, 182'040'794,
                                         "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"},
                                        {"test", "test_32x32.mat", 26'032, 64'275'384,
                                         "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"},
                                        {"extra", "extra_32x32.mat", 531'131, 1'329'278'602,
                                         "a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3"}};
  std::vector<std::string> names;
  for (const auto& facts : files) {
    names.push_back(facts.file);
    entry.files.push_back({"svhn/" + facts.file, facts.size, facts.sha256, "", {entry.homepage + facts.file}});
    entry.parts.push_back(
        {facts.part,
         facts.count,
         {facts.file},
         digit_names(),
         std::nullopt,
         [file = facts.file](const auto& location, const auto&) { return read_svhn(location / file); }});
    entry.splits.push_back(whole_part(entry.parts.back(), facts.file));
  }
  entry.locations = {{"svhn", names}, {"SVHN", names}, {".", names}};
  return entry;
}

}  // namespace priornet
