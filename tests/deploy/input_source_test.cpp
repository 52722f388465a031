#include <priornet/deploy/inputs.h>
#include <priornet/learning/images.h>
#include <testing/small_models.h>
#include "learning/data/npy.h"

#include <sstream>

namespace priornet {
namespace {

std::vector<Input> all_of(const std::unique_ptr<InputSource>& source) {
  std::vector<Input> inputs;
  while (auto input = source->next()) inputs.push_back(std::move(*input));
  return inputs;
}

torch::Tensor some_image(int64_t side = 8) { return torch::randint(0, 255, {1, side, side}).to(torch::kUInt8); }

TEST(InputSource, ReadsTheImagesOfAFolderInOrderAndGoesOnAfterABadOne) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a/b");
  const auto image = some_image();
  folder.file("a/2.png", encode_png(image));
  folder.file("a/10.png", "no image");
  folder.file("a/b/1.png", encode_png(some_image(20)));
  folder.file("a/notes.txt", "passed over");
  folder.file("a/._2.png", "what a Mac leaves beside 2.png");
  std::filesystem::create_directories(folder / "a/.thumbnails");
  folder.file("a/.thumbnails/2.png", encode_png(image));
  const Predictor predictor(small_model());
  const auto inputs = all_of(open_inputs((folder / "a").string(), predictor));
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].name, (folder / "a/2.png").string());
  EXPECT_TRUE(inputs[0].value.equal(image));
  EXPECT_EQ(inputs[1].error,
            "should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, begins with the bytes 6e 6f 20 69 6d 61 67 65");
  EXPECT_FALSE(inputs[1].value.defined());
  EXPECT_EQ(inputs[2].value.sizes(), torch::IntArrayRef({1, 8, 8}));
}

TEST(InputSource, SaysWhatIsNotThere) {
  const TemporaryFolder folder;
  const Predictor predictor(small_model());
  EXPECT_EQ(all_of(open_inputs((folder / "none.png").string(), predictor)).at(0).error,
            "cannot be read: No such file or directory");
  EXPECT_EQ(all_of(open_inputs((folder / "").string(), predictor)).at(0).error, "holds no images");
  EXPECT_EQ(all_of(open_inputs(folder.file("t.csv", "1,2\n"), predictor)).at(0).error,
            "holds rows of numbers, the model takes images");
  std::filesystem::create_symlink("moved.png", folder / "link.png");
  EXPECT_EQ(all_of(open_inputs((folder / "").string(), predictor)).at(0).error,
            "cannot be read: No such file or directory")
      << "a link to nothing is an image that is missed";
}

TEST(InputSource, ReadsNamedColumnsInAnyOrderBesideOthers) {
  const TemporaryFolder folder;
  const Predictor predictor(small_table_model());
  const auto path = folder.file("t.csv", "c,label,a,b\r\n3,yes,1,2\r\n\r\n6,no,x,5\n1,2\n9,yes,7,8").string();
  const auto inputs = all_of(open_inputs(path, predictor));
  ASSERT_EQ(inputs.size(), 4u);
  EXPECT_TRUE(inputs[0].value.equal(torch::tensor({1.0F, 2.0F, 3.0F})));
  EXPECT_EQ(inputs[1].error, "column 3: \"x\" is not a finite number");
  EXPECT_EQ(inputs[2].error, "should have 4 values, has 2");
  EXPECT_EQ(inputs[3].row, 3);
  EXPECT_TRUE(inputs[3].value.equal(torch::tensor({7.0F, 8.0F, 9.0F})));
  EXPECT_EQ(all_of(open_inputs(folder.file("u.csv", "a,b\n1,2\n"), predictor)).at(0).error,
            "has no column c; its columns: a, b");
  EXPECT_EQ(all_of(open_inputs(folder.file("y.csv", "a,b,c,b\n1,2,3,4\n"), predictor)).at(0).error,
            "two columns have the name b");
  const auto plain = all_of(open_inputs(folder.file("v.csv", "1,2,3\n"), predictor));
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_TRUE(plain[0].value.equal(torch::tensor({1.0F, 2.0F, 3.0F})));
  EXPECT_EQ(all_of(open_inputs(folder.file("w.csv", "1,2\n"), predictor)).at(0).error, "should have 3 columns, has 2");
  EXPECT_EQ(all_of(open_inputs(folder.file("x.csv", ""), predictor)).at(0).error, "is empty");
}

// As pandas numbers columns without names.
TEST(InputSource, KnowsNamesThatAreNumbers) {
  const TemporaryFolder folder;
  auto model = small_table_model();
  model.preprocessing.feature_names = {"0", "1", "2"};
  const Predictor predictor(std::move(model));
  const auto inputs = all_of(open_inputs(folder.file("t.csv", "2,0,1\n3,1,2\n"), predictor));
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_TRUE(inputs[0].value.equal(torch::tensor({1.0F, 2.0F, 3.0F})));
  EXPECT_EQ(all_of(open_inputs(folder.file("u.csv", "2,7,1\n3,1,2\n"), predictor)).size(), 2u) << "no names";
}

TEST(InputSource, FindsANameWithALineBreak) {
  const TemporaryFolder folder;
  auto model = small_table_model();
  model.preprocessing.feature_names = {"net\\namount", "b", "c"};  // as training stores it
  const Predictor predictor(std::move(model));
  const auto inputs = all_of(open_inputs(folder.file("t.csv", "b,\"net\namount\",c\n2,1,3\n"), predictor));
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_TRUE(inputs[0].value.equal(torch::tensor({1.0F, 2.0F, 3.0F}))) << inputs[0].error;
}

TEST(InputSource, ReadsArraysRowByRow) {
  const TemporaryFolder folder;
  const Predictor rows(small_table_model());
  auto numbers = torch::randn({3, 3}, torch::kFloat64);
  numbers[1][1] = NAN;
  write_npy(folder / "n.npy", numbers);
  const auto inputs = all_of(open_inputs((folder / "n.npy").string(), rows));
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_TRUE(inputs[2].value.equal(numbers[2].to(torch::kFloat32)));
  EXPECT_EQ(inputs[1].error, "holds a value that is not a finite number");
  const auto bytes = bytes_of(folder / "n.npy");
  const auto cut = all_of(open_inputs(folder.file("cut.npy", bytes.substr(0, bytes.size() - 30)), rows));
  ASSERT_EQ(cut.size(), 2u);  // reading ends with the row that is cut off
  EXPECT_NE(cut[1].error, "");

  const Predictor images(small_model());
  const auto pictures = torch::randint(0, 255, {2, 10, 10}).to(torch::kUInt8);
  write_npy(folder / "p.npy", pictures);
  EXPECT_EQ(all_of(open_inputs((folder / "p.npy").string(), images)).at(1).value.sizes(),
            torch::IntArrayRef({1, 8, 8}));
  EXPECT_EQ(all_of(open_inputs((folder / "p.npy").string(), rows)).at(0).error,
            "should be numbers [N, 3], found Byte [2, 10, 10]");
}

TEST(InputSource, KnowsAStreamByItsFirstBytes) {
  const TemporaryFolder folder;
  const Predictor images(small_model());
  const Predictor rows(small_table_model());
  const auto image = some_image();
  std::istringstream png(encode_png(image));
  EXPECT_TRUE(all_of(stream_inputs(png, "-", images)).at(0).value.equal(image));
  std::istringstream csv("1,2,3\n4,5,6\n");
  EXPECT_EQ(all_of(stream_inputs(csv, "-", rows)).size(), 2u);
  write_npy(folder / "n.npy", torch::randn({4, 3}));
  std::istringstream npy(bytes_of(folder / "n.npy"));
  EXPECT_EQ(all_of(stream_inputs(npy, "-", rows)).size(), 4u);
  std::istringstream nothing("");
  EXPECT_EQ(all_of(stream_inputs(nothing, "-", rows)).at(0).error, "is empty");
  std::istringstream none("");
  EXPECT_EQ(all_of(stream_inputs(none, "-", images)).at(0).error,
            "should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, found no bytes");
  std::istringstream bitmap("BM12");
  EXPECT_EQ(all_of(stream_inputs(bitmap, "-", images)).at(0).error,
            "should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, begins with the bytes 42 4d 31 32");
}

}  // namespace
}  // namespace priornet
