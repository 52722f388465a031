#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/data/npy.h"
#include "learning/sets/path_set.h"

namespace priornet {
namespace {

const auto kImages = torch::arange(24, torch::kUInt8).reshape({2, 1, 3, 4});

Dataset read(const std::vector<NamedTensor>& arrays) {
  const TemporaryFolder folder;
  write_npz(folder / "a.npz", arrays);
  auto set = read_array_set(folder / "a.npz");
  check_dataset(set);
  return set;
}

std::string error_of(const std::vector<NamedTensor>& arrays) {
  const TemporaryFolder folder;
  const auto path = (folder / "a.npz").string();
  write_npz(path, arrays);
  try {
    read_array_set(path);
    return "no error";
  } catch (const DataError& error) {
    const std::string message = error.what();
    return message.starts_with(path) ? message.substr(path.size()) : "does not name the file";
  }
}

TEST(ReadArraySet, ReadsImagesWithLabelsOfAnyIntegers) {
  for (const auto type : {torch::kInt64, torch::kInt32, torch::kUInt8}) {
    const auto set = read({{"labels", torch::tensor({2, 0}, type)}, {"images", kImages}, {"other", torch::zeros(7)}});
    EXPECT_TRUE(set.inputs.equal(kImages));
    EXPECT_TRUE(set.labels.equal(torch::tensor({2, 0}, torch::kInt64)));
    EXPECT_EQ(set.class_names, std::vector<std::string>({"0", "1", "2"}));
  }
}

TEST(ReadArraySet, ReadsGreyImagesAndNumbers) {
  EXPECT_TRUE(read({{"inputs", kImages.squeeze(1)}}).inputs.equal(kImages));
  const auto numbers = torch::rand({5, 3}, torch::kFloat64);
  EXPECT_TRUE(read({{"inputs", numbers}}).inputs.equal(numbers.to(torch::kFloat32)));
  EXPECT_FALSE(read({{"inputs", numbers}}).has_labels());
}

TEST(ReadArraySet, ReadsALoneArray) {
  const TemporaryFolder folder;
  write_npy(folder / "a.npy", kImages);
  EXPECT_TRUE(read_array_set(folder / "a.npy").inputs.equal(kImages));
  EXPECT_THROWS(DataError, read_array_set("a.csv"), "a.csv: extension .csv is not supported: wanted .npz or .npy");
}

TEST(ReadArraySet, SaysWhichArrayIsMissingOrOfTheWrongKind) {
  EXPECT_EQ(error_of({{"x", kImages}, {"y", kImages}}), ": wanted an array inputs or an array images, found x, y");
  EXPECT_EQ(error_of({{"inputs", kImages}, {"images", kImages}}),
            ": wanted an array inputs or an array images, found both");
  EXPECT_EQ(error_of({{"inputs", torch::zeros({2, 3}, torch::kInt64)}}),
            ": inputs are Long [2, 3]: wanted images, uint8 [N, C, H, W] or [N, H, W], or numbers, float32 or float64 "
            "[N, D], at least one");
  EXPECT_EQ(error_of({{"inputs", torch::zeros({0, 3})}}),
            ": inputs are Float [0, 3]: wanted images, uint8 [N, C, H, W] or [N, H, W], or numbers, float32 or float64 "
            "[N, D], at least one");
  EXPECT_EQ(error_of({{"inputs", kImages}, {"labels", torch::zeros(2)}}),
            ": labels are Float [2]: wanted integers [2]");
  EXPECT_EQ(error_of({{"inputs", kImages}, {"labels", torch::zeros(3, torch::kInt64)}}),
            ": labels are Long [3]: wanted integers [2]");
}

TEST(ReadArraySet, RefusesColoursInTheLastPlace) {
  EXPECT_EQ(error_of({{"images", torch::zeros({2, 8, 8, 3}, torch::kUInt8)}}),
            ": inputs are [2, 8, 8, 3], which looks like [N, H, W, C]: wanted images [N, C, H, W]; in NumPy, "
            "images.transpose(0, 3, 1, 2)");
  EXPECT_EQ(read({{"images", torch::zeros({2, 3, 8, 3}, torch::kUInt8)}}).inputs.size(1), 3);
}

TEST(ReadArraySet, NamesTheRowOfAWrongValue) {
  EXPECT_EQ(error_of({{"inputs", kImages}, {"labels", torch::tensor({1, -1}, torch::kInt64)}}),
            ": label -1 of row 1 (counted from 0) should be in [0, 65536)");
  EXPECT_EQ(error_of({{"inputs", kImages}, {"labels", torch::tensor({int64_t{1} << 60, int64_t{1}}, torch::kInt64)}}),
            ": label 1152921504606846976 of row 0 (counted from 0) should be in [0, 65536)");
  EXPECT_EQ(error_of({{"inputs", torch::tensor({1.0, 2.0, 3.0, 1e300}, torch::kFloat64).view({2, 2})}}),
            ": inputs[1, 1] is not a finite float32");
}

}  // namespace
}  // namespace priornet
