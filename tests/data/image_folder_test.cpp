#include "learning/sets/image_folder.h"
#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/archive_bytes.h>
#include <testing/fixtures.h>
#include <testing/image_files.h>
#include <testing/throws.h>

#include <map>

namespace priornet {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;
using Names = std::vector<std::string>;

Files two_classes() {
  return {{"dog/b.png", plain_png(4)},     {"dog/a.png", plain_png(3)},   {"cat/deep/er/1.PNG", plain_png(1)},
          {"cat/2.png", plain_png(2)},     {"cat/Thumbs.db", "no image"}, {"readme.txt", "no image"},
          {"cat-fish/1.png", plain_png(5)}};
}

TEST(ReadImageFolder, MakesEachSubFolderAClass) {
  const TemporaryFolder folder;
  const auto set = read_image_folder(lay_out(folder, two_classes()));
  EXPECT_EQ(set.class_names, (Names{"cat", "cat-fish", "dog"}));
  EXPECT_EQ(set.inputs.sizes(), (torch::IntArrayRef{5, 1, 4, 6}));
  EXPECT_EQ(first_pixels(set.inputs), (std::vector<int>{2, 1, 5, 3, 4}));
  EXPECT_TRUE(set.labels.equal(torch::tensor({0, 0, 1, 2, 2}, torch::kInt64)));
  EXPECT_NO_THROW(check_dataset(set));
}

TEST(ReadImageFolder, ReadsAnArchiveAlikeAndPassesThroughItsOuterFolder) {
  const TemporaryFolder folder;
  const auto plain = read_image_folder(lay_out(folder, two_classes()));
  Files nested{{"__MACOSX/pets/cat/._2.png", "no image"}};
  for (const auto& [path, bytes] : two_classes()) nested.emplace_back("pets/" + path, bytes);
  for (const bool zip : {false, true}) {
    const auto set = read_image_folder(folder.file(zip ? "a.zip" : "a.tar.gz", archive_bytes(nested, zip)));
    EXPECT_EQ(set.class_names, plain.class_names);
    EXPECT_TRUE(set.inputs.equal(plain.inputs));
    EXPECT_TRUE(set.labels.equal(plain.labels));
  }
}

TEST(ReadImageFolder, MakesAllRgbWhereOneIs) {
  const TemporaryFolder folder;
  auto files = two_classes();
  files.emplace_back("dog/c.png", plain_png(9, 4, 6, 3));
  const auto root = lay_out(folder, files);
  const auto set = read_image_folder(root);
  EXPECT_EQ(set.inputs.sizes(), (torch::IntArrayRef{6, 3, 4, 6}));
  EXPECT_TRUE(set.inputs[0].eq(2).all().item<bool>());
  EXPECT_TRUE(set.inputs[5].eq(9).all().item<bool>());
  ImageFolderOptions grey;
  grey.channels = Channels::kGrey;
  EXPECT_EQ(read_image_folder(root, grey).inputs.size(1), 1);
}

// More images than one batch holds. Only the last image has colours, so every earlier batch was read as grey.
TEST(ReadFlatImages, BringsManyBatchesToOneForm) {
  const TemporaryFolder folder;
  Files files;
  for (int i = 0; i < 2100; ++i) files.emplace_back(std::to_string(10000 + i) + ".png", plain_png(i % 251, 1, 2));
  files.emplace_back("z.png", plain_png(77, 1, 2, 3));
  const auto set = read_flat_images(folder.file("many.tar.gz", archive_bytes(files)));
  ASSERT_EQ(set.inputs.sizes(), (torch::IntArrayRef{2101, 3, 1, 2}));
  for (int i = 0; i < 2100; ++i) ASSERT_TRUE(set.inputs[i].eq(i % 251).all().item<bool>()) << i;
}

TEST(ReadFlatImages, TakesImagesAnywhereInTheOrderOfTheirPaths) {
  const TemporaryFolder folder;
  const auto set =
      read_flat_images(lay_out(folder, {{"b.png", plain_png(2)}, {"a/z.png", plain_png(1)}, {"c.png", plain_png(3)}}));
  EXPECT_EQ(first_pixels(set.inputs), (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(set.has_labels());
  EXPECT_TRUE(set.class_names.empty());
}

TEST(ReadFlatImages, NeedsAResizeForSeveralSizes) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, {{"a.png", plain_png(7)}, {"b.png", plain_png(8, 5, 6)}});
  EXPECT_THROWS(DataError, read_flat_images(root),
                ((root / "b.png").string() + ": has 6x5 pixels but " + (root / "a.png").string() +
                 " has 6x4; add a size for images of several sizes, such as ,size=64")
                    .c_str());
  ImageFolderOptions options;
  options.resize = ResizeOptions{8, 3};
  const auto set = read_flat_images(root, options);
  EXPECT_EQ(set.inputs.sizes(), (torch::IntArrayRef{2, 1, 8, 3}));
  EXPECT_TRUE(set.inputs[1].eq(8).all().item<bool>());
}

TEST(ReadImageFolder, NamesTheImageThatDoesNotDecode) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, two_classes());
  for (const auto* name : {"dog/e.png", "dog/d.png"}) folder.file(name, "GIF90a");
  EXPECT_THROWS(DataError, read_image_folder(root),
                ((root / "dog/d.png").string() +
                 ": should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, begins with the bytes 47 49 46 39 30 61")
                    .c_str());
}

TEST(ReadImageFolder, RefusesAnEmptyClassAndAnImageWithoutOne) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, two_classes());
  std::filesystem::create_directories(folder / "bird");
  EXPECT_THROWS(DataError, read_image_folder(root),
                ((root / "bird").string() + ": a class folder should hold images, found none").c_str());
  std::filesystem::remove(folder / "bird");
  folder.file("lost.png", plain_png(1));
  EXPECT_THROWS(DataError, read_image_folder(root),
                (root.string() + ": image lost.png should lie in the folder of its class").c_str());
}

TEST(ReadImageFolder, LeavesOutWhatItCannotUseWhereSomebodyListens) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, two_classes());
  std::filesystem::create_directories(folder / "bird");
  folder.file("lost.png", plain_png(1));
  folder.file("dog/e.png", "GIF90a");
  folder.file("dog/empty.jpg", "");
  SetFiles files;
  ImageFolderOptions options;
  options.files = &files;
  const auto set = read_image_folder(root, options);
  EXPECT_EQ(first_pixels(set.inputs), (std::vector<int>{2, 1, 5, 3, 4}));
  EXPECT_EQ(set.class_names, (Names{"cat", "cat-fish", "dog"}));
  ASSERT_EQ(files.rows.size(), 5u);
  EXPECT_EQ(files.rows[1].path, "cat/deep/er/1.PNG");
  EXPECT_NE(files.rows[1].content, files.rows[0].content);
  std::map<std::string, std::string> why;
  for (const auto& one : files.left_out) why[one.path] = one.why;
  EXPECT_EQ(why.size(), 6u);
  EXPECT_EQ(why["readme.txt"], "does not have the name of an image");
  EXPECT_EQ(why["cat/Thumbs.db"], "does not have the name of an image");
  EXPECT_EQ(why["lost.png"], "should lie in the folder of its class");
  EXPECT_EQ(why["bird/"], "a class folder should hold images, found none");
  EXPECT_EQ(why["dog/empty.jpg"], "should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, found no bytes");
}

TEST(ReadImageFolder, TakesNoPartsOfASetForClasses) {
  const TemporaryFolder folder;
  const auto image = plain_png(1);
  const auto parts =
      lay_out(folder, {{"train/cat/1.png", image}, {"train/dog/1.png", image}, {"val/cat/1.png", image}});
  EXPECT_THROWS(
      DataError, read_image_folder(parts),
      (parts.string() + ": holds train and val, which are parts of a set, not classes: name one of them, such as " +
       parts.string() + "/train")
          .c_str());
  EXPECT_EQ(read_image_folder(parts / "train").class_names, (Names{"cat", "dog"}));

  const TemporaryFolder other;
  const auto classes = lay_out(other, {{"test/1.png", image}, {"train/1.png", image}});
  EXPECT_EQ(read_image_folder(classes).class_names, (Names{"test", "train"})) << "where no classes lie below";
}

TEST(ReadImageFolder, HoldsPicturesUpright) {
  for (const auto* name : {"turned6.jpg", "turned6.png", "turned8.webp", "turned5.png", "turned7.png"}) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    const auto root = lay_out(folder, {{std::string("a/1") + name, image_bytes(name)}});
    EXPECT_TRUE(read_flat_images(root).inputs[0].equal(decode_image(image_bytes(name), name, Channels::kRgb)));
  }
}

TEST(ReadImageFolder, RefusesARootWithoutImages) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, {{"a/b.txt", "no image"}});
  EXPECT_THROWS(DataError, read_image_folder(root),
                (root.string() + ": holds no PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image").c_str());
  EXPECT_THROWS(DataError, read_flat_images(folder / "not"), ((folder / "not").string() + ": is not there").c_str());
}

TEST(NaturalOrder, TakesNumbersAsNumbers) {
  const Names ordered{"a", "val_1", "val_2", "val_02b", "val_10", "val_10_1", "vam"};
  for (size_t i = 0; i < ordered.size(); ++i)
    for (size_t j = 0; j < ordered.size(); ++j)
      EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << ordered[i] << " " << ordered[j];
}

}  // namespace
}  // namespace priornet
