#include <fmt/format.h>
#include <gtest/gtest.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <fstream>

#include "learning/data/npy.h"
#include "learning/sets/families.h"

namespace priornet {
namespace {

TEST(ParseImageList, ReadsAPathAndALabelPerLine) {
  const auto images = parse_image_list("list", "cifar10/test/bird/0012.png 2\r\n\ntin/val/images/val_7.JPEG -1\n");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].path, "cifar10/test/bird/0012.png");
  EXPECT_EQ(images[0].label, 2);
  EXPECT_EQ(images[1].path, "tin/val/images/val_7.JPEG");
  EXPECT_EQ(images[1].label, -1);
}

TEST(ParseImageList, NamesTheLineThatIsNone) {
  EXPECT_THROWS(DataError, parse_image_list("list", "a/1.png 0\nb/2.png\n"),
                "list: line 2 should be the path of an image and its label, found \"b/2.png\"");
  EXPECT_THROWS(DataError, parse_image_list("list", "a/1.png zero"),
                "list: line 1 should be the path of an image and its label, found \"a/1.png zero\"");
  EXPECT_THROWS(DataError, parse_image_list("list", "a/1.png -2"),
                "list: line 1 should be the path of an image and its label, found \"a/1.png -2\"");
  EXPECT_THROWS(DataError, parse_image_list("list", "\n"), "list: is empty");
}

// Classes b, a, b, b, a.
Dataset listed_set() {
  return {
      "set", torch::zeros({5, 1, 1, 1}, torch::kUInt8), torch::tensor({1, 0, 1, 1, 0}, torch::kInt64), {"a", "b"}, {}};
}

torch::Tensor by_class(const std::string& text) {
  return rows_by_class("list", parse_image_list("list", text), listed_set());
}

torch::Tensor by_number(const std::string& text) {
  return rows_by_number("list", parse_image_list("list", text), listed_set());
}

TEST(RowsByClass, CountFromOneWithinTheClass) {
  const auto rows = by_class("x/b/0003.png 1\nx/a/0001.png -1\nx/b/0001.png 1\nx/a/2.png 0\n");
  EXPECT_TRUE(rows.equal(torch::tensor({3, 1, 0, 4}, torch::kInt64)));
}

TEST(RowsByClass, RefuseWhatTheSetDoesNotHave) {
  EXPECT_THROWS(DataError, by_class("x/a/0003.png 0"), "list: set has no image x/a/0003.png");
  EXPECT_THROWS(DataError, by_class("x/a/0000.png 0"), "list: set has no image x/a/0000.png");
  EXPECT_THROWS(DataError, by_class("x/c/0001.png 0"), "list: set has no image x/c/0001.png");
  EXPECT_THROWS(DataError, by_class("x/a/one.png 0"), "list: set has no image x/a/one.png");
  EXPECT_THROWS(DataError, by_class("x/a/0001.png 1"),
                "list: the label of x/a/0001.png should be 0, as in set, found 1");
  EXPECT_THROWS(DataError, by_class("x/a/0001.png 0\nx/a/1.png 0"), "list: image x/a/1.png is listed twice");
}

TEST(RowsByNumber, CountFromZero) {
  EXPECT_TRUE(by_number("val_4.JPEG -1\ntin/val_0.JPEG -1").equal(torch::tensor({4, 0}, torch::kInt64)));
  EXPECT_THROWS(DataError, by_number("val_5.JPEG -1"), "list: set has no image val_5.JPEG");
  EXPECT_THROWS(DataError, by_number("test_1.JPEG -1"), "list: set has no image test_1.JPEG");
}

/// cifar10:test: image n has class n % 10, and its first pixel is n / 10 modulo 251.
void make_up_cifar10_test(const std::filesystem::path& root) {
  const auto folder = root / "cifar-10-batches-bin";
  std::filesystem::create_directories(folder);
  std::string bytes;
  for (int n = 0; n < 10'000; ++n) {
    std::string record(3073, '\0');
    record[0] = static_cast<char>(n % 10);
    record[1] = static_cast<char>(n / 10 % 251);
    bytes += record;
  }
  std::ofstream(folder / "test_batch.bin", std::ios::binary) << bytes;
}

TEST(OpenOod, IsRowsOfAnotherSet) {
  const TemporaryFolder root;
  const LoadOptions options{root / "", true, nullptr};
  const auto absent = fmt::format(
      "openood (cifar10-val) is not in {}: priornet data get openood gets it; by hand, put benchmark_imglist.zip into "
      "{}",
      (root / "").string(), (root / "openood").string());
  EXPECT_THROWS(AbsentSet, load_set("openood:cifar10-val", options), absent.c_str());
  std::string list;
  for (int n = 0; n < 1000; ++n) list += fmt::format("cifar10/test/cat/{:04}.png 3\n", 1000 - n);
  std::filesystem::create_directories(root / "openood-cifar10");
  std::ofstream(root / "openood-cifar10" / "val_cifar10.txt") << list;
  EXPECT_THROW(load_set("openood:cifar10-val", options), AbsentSet) << "the images are not there";
  make_up_cifar10_test(root / "");
  const auto set = load_set("openood:cifar10-val", options);
  EXPECT_EQ(set.name, "openood:cifar10-val");
  ASSERT_EQ(set.size(), 1000);
  EXPECT_TRUE(set.labels.eq(3).all().item<bool>());
  EXPECT_EQ(set.inputs[0][0][0][0].item<int64_t>(), 999 % 251);
  EXPECT_EQ(set.inputs[999][0][0][0].item<int64_t>(), 0);
  EXPECT_EQ(load_set("openood:cifar10-val,first=7", options).size(), 7);
  const auto short_list = root / "openood-cifar10" / "val_cifar10.txt";
  std::ofstream(short_list) << "cifar10/test/cat/0001.png 3\n";
  EXPECT_THROWS(DataError, load_set("openood:cifar10-val", options),
                (short_list.string() + ": lists 1 images, but should list 1000").c_str());
}

TEST(Cifar10h, IsCountsOfPeoplePerClass) {
  const TemporaryFolder root;
  std::filesystem::create_directories(root / "cifar-10h");
  const auto file = root / "cifar-10h" / "cifar10h-counts.npy";
  auto counts = torch::ones({10'000, 10}, torch::kInt64);
  counts[3][5] = 42;
  write_npy(file, counts);
  const auto set = load_set("cifar10h", {root / "", true, nullptr});
  ASSERT_EQ(set.inputs.sizes().vec(), (std::vector<int64_t>{10'000, 10}));
  EXPECT_EQ(set.inputs[3][5].item<float>(), 42);
  EXPECT_EQ(set.feature_names[5], "dog");
  EXPECT_FALSE(set.has_labels());
}

TEST(Cifar10h, RefusesWhatIsNoCount) {
  const TemporaryFolder root;
  const auto file = root / "cifar10h-counts.npy";
  const auto wanted = [&](const char* what) { return file.string() + ": " + what; };
  const auto counts = torch::ones({4, 10}, torch::kInt64);
  write_npy(file, counts.to(torch::kFloat32));
  EXPECT_THROWS(DataError, read_cifar10h(root / ""), wanted("should hold counts, int64 [N, 10]").c_str());
  write_npy(file, counts.narrow(1, 0, 9));
  EXPECT_THROWS(DataError, read_cifar10h(root / ""), wanted("should hold counts, int64 [N, 10]").c_str());
  counts[2][1] = -1;
  write_npy(file, counts);
  EXPECT_THROWS(DataError, read_cifar10h(root / ""), wanted("should hold counts, found -1").c_str());
  counts[2].zero_();
  write_npy(file, counts);
  EXPECT_THROWS(DataError, read_cifar10h(root / ""), wanted("nobody labelled image 2 (counted from 0)").c_str());
}

}  // namespace
}  // namespace priornet
