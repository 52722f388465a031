#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <testing/gzip_bytes.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/sets/families.h"

namespace priornet {
namespace {

// Records whose pixels count up from the label, so that a shift by a byte shows.
std::string records(const std::vector<int>& labels, const std::string& before = "") {
  std::string bytes;
  for (const int label : labels) {
    bytes += before;
    bytes.push_back(static_cast<char>(label));
    for (int i = 0; i < 3072; ++i) bytes.push_back(static_cast<char>(label + i));
  }
  return bytes;
}

const CifarSet kSet{{"one.bin", "two.bin"}, 1, {"a", "b", "c"}};

bool is_record(const torch::Tensor& image, int label) {
  return image.equal((torch::arange(3072) + label).to(torch::kUInt8).reshape({3, 32, 32}));
}

TEST(ReadCifar, ReadsTheFilesInTheOrderGiven) {
  const TemporaryFolder folder;
  folder.file("one.bin", records({2, 0}));
  folder.file("two.bin.gz", gzip_bytes(records({1, 1})));
  const auto set = read_cifar(folder / "", kSet);
  EXPECT_TRUE(set.labels.equal(torch::tensor({2, 0, 1, 1}, torch::kInt64)));
  ASSERT_EQ(set.inputs.sizes().vec(), std::vector<int64_t>({4, 3, 32, 32}));
  EXPECT_TRUE(is_record(set.inputs[0], 2) && is_record(set.inputs[1], 0) && is_record(set.inputs[3], 1));
  const auto other = read_cifar(folder / "", {{"two.bin", "one.bin"}, 1, {"a", "b", "c"}});
  EXPECT_TRUE(other.labels.equal(torch::tensor({1, 1, 2, 0}, torch::kInt64)));
  EXPECT_TRUE(is_record(other.inputs[2], 2));
  EXPECT_NO_THROW(check_dataset(other));
}

TEST(ReadCifar, TakesTheLastOfSeveralLabels) {
  const TemporaryFolder folder;
  folder.file("one.bin", records({2, 0}, "\x13"));
  const auto set = read_cifar(folder / "", {{"one.bin"}, 2, {"a", "b", "c"}});
  EXPECT_TRUE(set.labels.equal(torch::tensor({2, 0}, torch::kInt64)));
  EXPECT_TRUE(is_record(set.inputs[0], 2) && is_record(set.inputs[1], 0));
}

TEST(ReadCifar, ReadsMoreRecordsThanItReadsAtATime) {
  const TemporaryFolder folder;
  std::vector<int> labels;
  for (int i = 0; i < 300; ++i) labels.push_back(i % 3);
  folder.file("one.bin", records(labels));
  const auto set = read_cifar(folder / "", {{"one.bin"}, 1, {"a", "b", "c"}});
  ASSERT_EQ(set.size(), 300);
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(is_record(set.inputs[i], i % 3)) << i;
}

TEST(ReadCifar, NamesTheRecordThatIsCutOrWrong) {
  const TemporaryFolder folder;
  const CifarSet one{{"one.bin"}, 1, {"a", "b", "c"}};
  const auto name = (folder / "one.bin").string();
  folder.file("one.bin", records({1, 1}).substr(0, 4000));
  EXPECT_THROWS(DataError, read_cifar(folder / "", one),
                (name + ": ends at byte 4000, within record 1 (counted from 0): wanted 3073 bytes per record").c_str());
  folder.file("one.bin", records({1, 2, 3}));
  EXPECT_THROWS(DataError, read_cifar(folder / "", one),
                (name + ": byte 6146: label 3 of record 2 (counted from 0) should be in [0, 3)").c_str());
  folder.file("one.bin", "");
  EXPECT_THROWS(DataError, read_cifar(folder / "", one), (name + ": is empty").c_str());
}

TEST(ReadCifar, RefusesAFileThatIsShorterOrLongerThanTheOthers) {
  const TemporaryFolder folder;
  const auto name = (folder / "two.bin").string();
  folder.file("one.bin", records({1, 1}));
  folder.file("two.bin", records({1}));
  EXPECT_THROWS(DataError, read_cifar(folder / "", kSet),
                (name + ": holds 1 records: wanted 2, as in the other files").c_str());
  folder.file("two.bin", records({1, 1, 1}));
  EXPECT_THROWS(DataError, read_cifar(folder / "", kSet),
                (name + ": goes on after byte 6146, where a file of 2 records, as the others are, ends").c_str());
}

}  // namespace
}  // namespace priornet
