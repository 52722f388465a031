#include <testing/archive_bytes.h>
#include <testing/gzip_bytes.h>
#include <testing/idx_bytes.h>
#include <testing/temporary_folder.h>
#include "learning/sets/families.h"

namespace priornet {
namespace {

// A record whose pixels all have the value of its label.
std::string record(char label) { return std::string(1 + 3072, label); }

TEST(ReadCifar, KeepsItsOrderWhateverThatOfTheArchive) {
  const TemporaryFolder folder;
  const auto path = folder.file("cifar.tar.gz", archive_bytes({{"batches/two.bin", record(2)},
                                                               {"batches/readme.html", "text"},
                                                               {"batches/one.bin", record(0)},
                                                               {"batches/three.bin", record(1)}}));
  const auto set = read_cifar(path, {{"one.bin", "two.bin", "three.bin"}, 1, {"a", "b", "c"}});
  EXPECT_TRUE(set.labels.equal(torch::tensor({0, 2, 1}, torch::kInt64)));
  EXPECT_TRUE(set.inputs.select(1, 2).select(1, 31).select(1, 31).equal(torch::tensor({0, 2, 1}, torch::kUInt8)));
}

TEST(ReadIdxSet, ReadsCompressedFilesInAZip) {
  const TemporaryFolder folder;
  const auto path =
      folder.file("gzip.zip", archive_bytes({{"gzip/labels.gz", gzip_bytes(idx_bytes({2}, std::string("\1\0", 2)))},
                                             {"gzip/images.gz", gzip_bytes(idx_bytes({2, 1, 2}, "abcd"))}},
                                            true));
  const auto set = read_idx_set(path, {"images", "labels", {"zero", "one"}});
  EXPECT_TRUE(set.labels.equal(torch::tensor({1, 0}, torch::kInt64)));
  EXPECT_EQ(set.inputs[1][0][0][1].item<int>(), 'd');
}

}  // namespace
}  // namespace priornet
