#include <gtest/gtest.h>
#include <priornet/learning/images.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

namespace priornet {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

struct Photos : TemporaryFolder {
  LoadOptions options() const { return {*this / "root", true, nullptr}; }
  Dataset load(const std::string& name) const { return load_set((*this / "").string() + name, options()); }
  void photo(const std::string& name, int64_t height, int64_t value) const {
    fs::create_directories((*this / name).parent_path());
    file(name, encode_png(torch::full({1, height, 4}, value, torch::kUInt8)));
  }
  std::vector<fs::path> copies() const {
    std::vector<fs::path> files;
    if (fs::exists(*this / "root/prepared"))
      for (const auto& entry : fs::directory_iterator(*this / "root/prepared")) files.push_back(entry.path());
    return files;
  }
};

TEST(ImagePathSet, TellsClassFoldersFromAFlatFolder) {
  const Photos photos;
  photos.photo("animals/cat/1.png", 5, 10);
  photos.photo("animals/tabby/1.png", 5, 20);
  photos.photo("animals/zebra/1.png", 5, 30);
  photos.photo("flat/1.png", 5, 10);
  const auto animals = photos.load("animals/");
  EXPECT_EQ(animals.class_names, (Names{"cat", "tabby", "zebra"}));
  EXPECT_EQ(animals.inputs.sizes(), (std::vector<int64_t>{3, 1, 5, 4}));
  EXPECT_FALSE(photos.load("flat").has_labels());
}

TEST(OwnSet, IsAFolderOfTheDataRootByItsName) {
  const Photos photos;
  photos.photo("root/scenes/1.png", 5, 10);
  photos.photo("root/scenes/2.png", 5, 20);
  const auto first = load_set("scenes,first=1", photos.options());
  EXPECT_EQ(first.name, "scenes,first=1");
  EXPECT_EQ(first.size(), 1);
  EXPECT_FALSE(first.has_labels());
  EXPECT_EQ(photos.copies(), std::vector{photos / "root/prepared/scenes.safetensors"});
  EXPECT_THROW(load_set("scenery", photos.options()), DataError);
  EXPECT_THROW(load_set("scenes:test", photos.options()), DataError) << "it has no splits";
  fs::remove_all(photos / "root/scenes");
  EXPECT_EQ(load_set("scenes", photos.options()).size(), 2) << "its copy serves alone";
  EXPECT_EQ(load_set("scenes,size=4", photos.options()).inputs.sizes(), (std::vector<int64_t>{2, 1, 4, 4}));
}

TEST(ImagePathSet, LeavesOutTheClassesOfAnotherSet) {
  const Photos photos;
  photos.photo("animals/cat/1.png", 5, 10);
  photos.photo("animals/tabby/1.png", 5, 20);
  photos.photo("animals/zebra/1.png", 5, 30);
  const auto others = photos.load("animals,without=cifar10");
  EXPECT_EQ(others.class_names, Names{"zebra"});
  EXPECT_EQ(others.inputs[0][0][0][0].item<int64_t>(), 30);
  EXPECT_EQ(others.labels[0].item<int64_t>(), 0);
}

TEST(ImagePathSet, KeepsACopyForEverySizeAskedFor) {
  const Photos photos;
  photos.photo("mixed/1.png", 5, 10);
  photos.photo("mixed/2.png", 9, 10);
  EXPECT_THROW(photos.load("mixed"), DataError);
  EXPECT_EQ(photos.load("mixed,size=3").inputs.sizes(), (std::vector<int64_t>{2, 1, 3, 3}));
  EXPECT_EQ(photos.load("mixed,size=2,invert").inputs[0][0][0][0].item<int64_t>(), 245);
  EXPECT_EQ(photos.load("mixed,size=2,antialias=off").size(), 2);
  EXPECT_EQ(photos.copies().size(), 3u);
  photos.load("mixed,size=3");
  EXPECT_EQ(photos.copies().size(), 3u);
}

TEST(ImagePathSet, LeavesOutUpToOneImageInAHundred) {
  const Photos photos;
  for (int i = 0; i < 198; ++i)
    photos.photo("pets/" + std::string(i % 2 == 0 ? "cat/" : "dog/") + std::to_string(i) + ".png", 5, i);
  for (const auto* name : {"pets/cat/x.png", "pets/dog/y.png"}) photos.file(name, "no image");
  SetFiles files;
  auto options = photos.options();
  options.files = &files;
  const auto name = (photos / "pets").string();
  for (int reading = 0; reading < 2; ++reading) {  // the second time from the prepared copy
    EXPECT_EQ(load_set(name, options).size(), 198);
    ASSERT_EQ(files.left_out.size(), 2u);
    EXPECT_EQ(files.left_out[0].path, "cat/x.png");
    ASSERT_EQ(files.rows.size(), 198u);
    EXPECT_EQ(files.rows[0].path, "cat/0.png");
  }
  load_set(name + ",first=3", options);
  EXPECT_TRUE(files.rows.empty()) << "rows are chosen";
  auto strict = photos.options();
  strict.strict = true;
  EXPECT_THROWS(
      DataError, load_set(name, strict),
      (name + "/cat/x.png: should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, begins with the bytes 6e "
              "6f 20 69 6d 61 67 65")
          .c_str());
  photos.file("pets/dog/z.png", "");
  try {
    photos.load("pets");
    ADD_FAILURE() << "3 of 201 are too many";
  } catch (const DataError& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with(name + ": 3 of 201 images cannot be used, which is more than 1 %"))
        << error.what();
  }
}

TEST(ImagePathSet, SeesAChangedFolder) {
  const Photos photos;
  photos.photo("flat/1.png", 5, 10);
  EXPECT_EQ(photos.load("flat").size(), 1);
  photos.photo("flat/2.png", 5, 10);
  EXPECT_EQ(photos.load("flat").size(), 2);
  EXPECT_EQ(photos.copies().size(), 1u);
}

}  // namespace
}  // namespace priornet
