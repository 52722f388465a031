#include <priornet/uncertainty/errors.h>
#include <testing/gzip_bytes.h>
#include <testing/idx_bytes.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/data/byte_stream.h"
#include "learning/sets/families.h"

namespace priornet {
namespace {

using Sizes = std::vector<int64_t>;

torch::Tensor read_bytes(const std::string& bytes) {
  MemoryStream stream("a", bytes);
  return read_idx(stream);
}

const IdxSet kSet{"images", "labels", {"zero", "one", "two"}};

TEST(ReadIdx, ReadsBytesOfAnyRank) {
  EXPECT_TRUE(read_bytes(idx_bytes({3}, "\1\2\xff")).equal(torch::tensor({1, 2, 255}, torch::kUInt8)));
  const auto values = read_bytes(idx_bytes({2, 1, 3}, "abcdef"));
  EXPECT_EQ(values.sizes().vec(), Sizes({2, 1, 3}));
  EXPECT_EQ(values[1][0][0].item<int>(), 'd');
  EXPECT_EQ(read_bytes(idx_bytes({1, 2, 1, 1}, "ab")).sizes().vec(), Sizes({1, 2, 1, 1}));
  EXPECT_EQ(read_bytes(idx_bytes({0}, "")).sizes().vec(), Sizes({0}));
}

TEST(ReadIdx, SaysWhichByteOfTheHeaderIsWrong) {
  EXPECT_THROWS(DataError, read_bytes("\x89PNG"),
                "a: is not an IDX file: it starts with the bytes 89 50, wanted 00 00, type and rank");
  EXPECT_THROWS(DataError, read_bytes(gzip_bytes("ab")),
                "a: is gzip data: wanted an IDX file, or a name that ends in .gz");
  EXPECT_THROWS(DataError, read_bytes(std::string("\0\0\x0d\1", 4)),
                "a: byte 2, the type of the values, is 0d: wanted 08 (uint8)");
  EXPECT_THROWS(DataError, read_bytes(std::string("\0\0\x08\0", 4)), "a: byte 3, the rank, is 0: wanted 1 to 4");
  EXPECT_THROWS(DataError, read_bytes(std::string("\0\0\x08\5", 4)), "a: byte 3, the rank, is 5: wanted 1 to 4");
  EXPECT_THROWS(DataError, read_bytes(""), "a: ends at byte 0 (of the IDX header, 4 bytes from byte 0)");
  EXPECT_THROWS(DataError, read_bytes(idx_bytes({3, 3}, "").substr(0, 9)),
                "a: ends at byte 9 (of the IDX header, 4 bytes from byte 8)");
}

TEST(ReadIdx, RefusesMoreOrFewerBytesThanTheHeaderSays) {
  EXPECT_THROWS(DataError, read_bytes(idx_bytes({2, 2}, "abc")),
                "a: [2, 2] needs 4 bytes from byte 12 on, but at most 3 can follow");
  EXPECT_THROWS(DataError, read_bytes(idx_bytes({2, 2}, "abcde")),
                "a: goes on after byte 16, where the values [2, 2] ends");
  const auto compressed = gzip_bytes(idx_bytes({2, 2}, "abc"));
  MemoryStream stream("a", compressed);
  const auto expanded = gunzip(stream);
  EXPECT_THROWS(DataError, read_idx(*expanded), "a: ends at byte 15 (of the values [2, 2], 4 bytes from byte 12)");
}

TEST(ReadIdx, AllocatesNothingAHeaderMerelyClaims) {
  EXPECT_THROWS(DataError, read_bytes(idx_bytes({0xffffffff, 1000}, "abc")),
                "a: [4294967295, 1000] needs 4294967295000 bytes from byte 12 on, but at most 3 can follow");
  EXPECT_THROWS(DataError, read_bytes(idx_bytes({0xffffffff, 0xffffffff, 0xffffffff}, "abc")),
                "a: [4294967295, 4294967295, 4294967295] does not fit in memory");
}

TEST(ReadIdxSet, ReadsPlainAndCompressedFiles) {
  const TemporaryFolder folder;
  folder.file("images.gz", gzip_bytes(idx_bytes({2, 2, 3}, "abcdefghijkl")));
  folder.file("labels", idx_bytes({2}, std::string("\2\0", 2)));
  const auto set = read_idx_set(folder / "", kSet);
  EXPECT_EQ(set.inputs.sizes().vec(), Sizes({2, 1, 2, 3}));
  EXPECT_EQ(set.inputs[1][0][0][1].item<int>(), 'h');
  EXPECT_TRUE(set.labels.equal(torch::tensor({2, 0}, torch::kInt64)));
  EXPECT_EQ(set.class_names, kSet.class_names);
  EXPECT_NO_THROW(check_dataset(set));
}

TEST(ReadIdxSet, TurnsImagesAndCountsLabelsFromOneAsEmnistHasThem) {
  const TemporaryFolder folder;
  folder.file("images", idx_bytes({1, 2, 3}, "abcdef"));
  folder.file("labels", idx_bytes({1}, "\3"));
  auto emnist = kSet;
  emnist.first_label = 1;
  emnist.transposed = true;
  const auto set = read_idx_set(folder / "", emnist);
  const auto wanted = torch::tensor({'a', 'd', 'b', 'e', 'c', 'f'}, torch::kUInt8).reshape({1, 1, 3, 2});
  EXPECT_TRUE(set.inputs.equal(wanted));
  EXPECT_EQ(set.labels[0].item<int64_t>(), 2);
  folder.file("labels", idx_bytes({1}, std::string(1, '\0')));
  EXPECT_THROWS(
      DataError, read_idx_set(folder / "", emnist),
      ((folder / "labels").string() + ": byte 8: label 0 of row 0 (counted from 0) should be in [1, 4)").c_str());
}

TEST(ReadIdxSet, NamesTheRowOfALabelOutOfRange) {
  const TemporaryFolder folder;
  folder.file("images", idx_bytes({3, 1, 1}, "abc"));
  folder.file("labels", idx_bytes({3}, std::string("\0\2\3", 3)));
  EXPECT_THROWS(
      DataError, read_idx_set(folder / "", kSet),
      ((folder / "labels").string() + ": byte 10: label 3 of row 2 (counted from 0) should be in [0, 3)").c_str());
}

TEST(ReadIdxSet, RefusesFilesThatDoNotBelongTogether) {
  const TemporaryFolder folder;
  const auto root = (folder / "").string();
  folder.file("images", idx_bytes({3, 1, 1}, "abc"));
  folder.file("labels", idx_bytes({2}, "\1\1"));
  EXPECT_THROWS(DataError, read_idx_set(root, kSet), (root + ": images holds 3 images, labels holds 2 labels").c_str());
  folder.file("images", idx_bytes({3, 1}, "abc"));
  EXPECT_THROWS(DataError, read_idx_set(root, kSet),
                ((folder / "images").string() + ": has shape [3, 1]: wanted images, [N, H, W]").c_str());
  folder.file("images", idx_bytes({4, 0, 7}, ""));
  EXPECT_THROWS(DataError, read_idx_set(root, kSet),
                ((folder / "images").string() + ": has shape [4, 0, 7]: wanted images, [N, H, W]").c_str());
  folder.file("images", idx_bytes({2, 1, 1}, "ab"));
  folder.file("labels", idx_bytes({2, 1}, "\1\1"));
  EXPECT_THROWS(DataError, read_idx_set(root, kSet),
                ((folder / "labels").string() + ": has shape [2, 1]: wanted labels, [N]").c_str());
}

TEST(ReadIdxSet, SaysWhichFileIsMissingOrThereTwice) {
  const TemporaryFolder folder;
  const auto root = (folder / "").string();
  EXPECT_THROWS(DataError, read_idx_set("no/such", kSet), "no/such: does not exist; it should hold images, labels");
  folder.file("images", idx_bytes({1, 1, 1}, "a"));
  EXPECT_THROWS(DataError, read_idx_set(root, kSet), (root + ": holds no file labels or labels.gz").c_str());
  std::filesystem::create_directories(folder / "raw");
  folder.file("raw/images", idx_bytes({1, 1, 1}, "a"));
  EXPECT_THROWS(DataError, read_idx_set(root, kSet),
                (root + ": holds both images and raw/images; remove one of them").c_str());
}

}  // namespace
}  // namespace priornet
