#include <priornet/data/catalogue/families.h>
#include <priornet/data/formats/tiny_imagenet.h>

namespace priornet {
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
                  whole_part(entry.parts[2], "500 images a class")};
  return entry;
}

}  // namespace priornet
