#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/archive_bytes.h>
#include <testing/image_files.h>
#include <testing/throws.h>

#include "learning/sets/families.h"

// Small stand-ins for OMNIGLOT and TinyImageNet, laid out as the published ones.

namespace priornet {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;
using Names = std::vector<std::string>;

Files omniglot_files(const std::string& part, int first) {
  return {{part + "/Greek/character01/0394_02.png", plain_png(first + 1, 105, 105)},
          {part + "/Greek/character01/0394_01.png", plain_png(first, 105, 105)},
          {part + "/Greek/character02/0395_01.png", plain_png(first + 2, 105, 105)},
          {part + "/Early_Aramaic/character01/0394_01.png", plain_png(first + 3, 105, 105)},
          {part + "/notes.png", plain_png(99)}};
}

TEST(ReadOmniglot, MakesEachCharacterAClass) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, omniglot_files("images_background", 0));
  const Names names{"Early_Aramaic/character01", "Greek/character01", "Greek/character02"};
  for (const auto& where : {root, root / "images_background", root / "images_background/"}) {
    const auto set = read_omniglot(where, OmniglotPart::kBackground);
    EXPECT_EQ(set.class_names, names);
    EXPECT_EQ(first_pixels(set.inputs), (std::vector<int>{3, 0, 1, 2}));
    EXPECT_EQ(set.inputs.sizes(), (torch::IntArrayRef{4, 1, 105, 105}));
    EXPECT_TRUE(set.labels.equal(torch::tensor({0, 1, 1, 2}, torch::kInt64)));
  }
  EXPECT_THROWS(
      DataError, read_omniglot(root, OmniglotPart::kAll),
      (root.string() + ": holds neither images_evaluation nor images_evaluation.zip, a part of OMNIGLOT").c_str());
}

TEST(ReadOmniglot, PutsTheEvaluationSetBehindTheBackgroundSet) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, omniglot_files("images_background", 0));
  const auto zip = folder.file("images_evaluation.zip", archive_bytes(omniglot_files("images_evaluation", 10), true));
  const auto all = read_omniglot(root, OmniglotPart::kAll);
  EXPECT_EQ(first_pixels(all.inputs), (std::vector<int>{3, 0, 1, 2, 13, 10, 11, 12}));
  EXPECT_EQ(all.num_classes(), 6);
  EXPECT_NO_THROW(check_dataset(all));
  EXPECT_TRUE(read_omniglot(zip, OmniglotPart::kEvaluation).inputs.equal(all.inputs.narrow(0, 4, 4)));
}

TEST(ReadOmniglot, RefusesDrawingsOfAnotherSize) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, {{"images_background/Greek/character01/0394_01.png", plain_png(1)}});
  EXPECT_THROWS(
      DataError, read_omniglot(root / "images_background", OmniglotPart::kBackground),
      ((root / "images_background").string() + ": drawings of OMNIGLOT should be 105x105 pixels, found 6x4").c_str());
}

const std::string kCat = "n02123045";
const std::string kFrog = "n01641577";

Files tiny_files() {
  return {{"wnids.txt", kCat + "\r\n" + kFrog + "\n"},
          {"words.txt", "n00000001\tentity\n" + kCat + "\ttabby, tabby cat\n"},
          {"train/" + kFrog + "/images/" + kFrog + "_0.JPEG", plain_png(5, 4, 4)},
          {"train/" + kCat + "/images/" + kCat + "_10.JPEG", plain_png(7, 4, 4)},
          {"train/" + kCat + "/images/" + kCat + "_9.JPEG", plain_png(6, 4, 4)},
          {"val/val_annotations.txt",
           "val_0.JPEG\t" + kFrog + "\t0\t32\t44\t62\nval_2.JPEG\t" + kCat + "\t1\t1\t1\t1\nval_10.JPEG\t" + kFrog},
          {"val/images/val_0.JPEG", plain_png(0, 4, 4)},
          {"val/images/val_10.JPEG", plain_png(10, 4, 4)},
          {"val/images/val_2.JPEG", plain_png(2, 4, 4)},
          {"test/images/test_1.JPEG", plain_png(1, 4, 4)},
          {"test/images/test_0.JPEG", plain_png(100, 4, 4)}};
}

void expect_tiny_set(const std::filesystem::path& root) {
  const Names names{kCat + " tabby, tabby cat", kFrog};
  const auto train = read_tiny_imagenet(root, TinyImageNetPart::kTrain);
  EXPECT_EQ(train.class_names, names);
  EXPECT_EQ(first_pixels(train.inputs), (std::vector<int>{5, 6, 7}));
  EXPECT_TRUE(train.labels.equal(torch::tensor({1, 0, 0}, torch::kInt64)));
  const auto validation = read_tiny_imagenet(root, TinyImageNetPart::kValidation);
  EXPECT_EQ(validation.class_names, names);
  EXPECT_EQ(validation.inputs.sizes(), (torch::IntArrayRef{3, 3, 4, 4}));
  EXPECT_EQ(first_pixels(validation.inputs), (std::vector<int>{0, 2, 10}));
  EXPECT_TRUE(validation.labels.equal(torch::tensor({1, 0, 1}, torch::kInt64)));
  const auto test = read_tiny_imagenet(root, TinyImageNetPart::kTest);
  EXPECT_EQ(first_pixels(test.inputs), (std::vector<int>{100, 1}));
  EXPECT_FALSE(test.has_labels());
}

TEST(ReadTinyImageNet, ReadsItsFolderItsParentAndItsArchive) {
  const TemporaryFolder folder;
  Files nested;
  for (const auto& [path, bytes] : tiny_files()) nested.emplace_back("tiny-imagenet-200/" + path, bytes);
  const auto root = lay_out(folder, nested);
  expect_tiny_set(root / "tiny-imagenet-200");
  expect_tiny_set(root);
  expect_tiny_set(folder.file("tiny-imagenet-200.zip", archive_bytes(nested, true)));
}

TEST(ReadTinyImageNet, DoesWithoutItsTextFiles) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, tiny_files());
  std::filesystem::remove(folder / "wnids.txt");
  std::filesystem::remove(folder / "words.txt");
  const auto train = read_tiny_imagenet(root, TinyImageNetPart::kTrain);
  EXPECT_EQ(train.class_names, (Names{kFrog, kCat}));
  EXPECT_TRUE(train.labels.equal(torch::tensor({0, 1, 1}, torch::kInt64)));
}

TEST(ReadTinyImageNet, SaysWhatDoesNotFit) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, tiny_files());
  const auto validation = [&] { read_tiny_imagenet(root, TinyImageNetPart::kValidation); };
  const auto annotations = (root / "val/val_annotations.txt").string();
  folder.file("val/images/val_3.JPEG", plain_png(3, 4, 4));
  EXPECT_THROWS(DataError, validation(), (annotations + ": has no line for image val_3.JPEG").c_str());
  std::filesystem::remove(folder / "val/images/val_3.JPEG");
  std::filesystem::remove(folder / "val/images/val_2.JPEG");
  EXPECT_THROWS(DataError, validation(),
                (root.string() + ": image val_2.JPEG is missing, but it has a line in " + annotations).c_str());
  folder.file("val/val_annotations.txt", "val_0.JPEG\t" + kFrog + "\nval_10.JPEG " + kFrog);
  EXPECT_THROWS(DataError, validation(),
                (annotations + ": line 2 should hold an image and a WordNet id with a tab between, found "
                               "\"val_10.JPEG n01641577\"")
                    .c_str());
  folder.file("wnids.txt", kCat);
  EXPECT_THROWS(DataError, read_tiny_imagenet(root, TinyImageNetPart::kTrain),
                ((root / "wnids.txt").string() + ": should hold the class n01641577 of an image").c_str());
  folder.file("wnids.txt", kCat + "\ncat\n");
  EXPECT_THROWS(
      DataError, read_tiny_imagenet(root, TinyImageNetPart::kTrain),
      ((root / "wnids.txt").string() + ": line 2 should be a WordNet id such as n02123045, found \"cat\"").c_str());
  std::filesystem::remove_all(folder / "test");
  EXPECT_THROWS(DataError, read_tiny_imagenet(root, TinyImageNetPart::kTest),
                (root.string() + ": holds no folder test/, a part of TinyImageNet").c_str());
}

}  // namespace
}  // namespace priornet
