#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "tool/downloads/download.h"

namespace priornet {
namespace {

// FIPS 180-2, appendix B, and RFC 1321, appendix A.5.
constexpr auto kSha256OfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr auto kMd5OfAbc = "900150983cd24fb0d6963f7d28e17f72";

TEST(Checksum, HasTheStandardsValues) {
  const TemporaryFolder folder;
  NoProgress progress;
  EXPECT_EQ(sha256_of(folder.file("abc", "abc"), progress), kSha256OfAbc);
  EXPECT_EQ(md5_of(folder / "abc", progress), kMd5OfAbc);
  EXPECT_EQ(md5_of(folder.file("empty", ""), progress), "d41d8cd98f00b204e9800998ecf8427e");
}

TEST(Checksum, TakesBytesInPieces) {
  Checksum checksum(Digest::kSha256);
  checksum.add("a");
  checksum.add("");
  checksum.add("bc");
  EXPECT_EQ(checksum.hexadecimal(), kSha256OfAbc);
}

struct Reports final : Progress {
  std::vector<std::pair<int64_t, int64_t>> all;
  void report(std::string_view task, int64_t done, int64_t total) override {
    EXPECT_EQ(task, "checking million");
    all.emplace_back(done, total);
  }
};

// FIPS 180-2, appendix B.3: a million times the letter a.
TEST(Checksum, ReadsALongFileAndEndsItsProgressOnce) {
  const TemporaryFolder folder;
  Reports reports;
  EXPECT_EQ(sha256_of(folder.file("million", std::string(1'000'000, 'a')), reports),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(reports.all, (std::vector<std::pair<int64_t, int64_t>>{{1'000'000, 1'000'000}}));
  const std::string longer(3'000'000, 'a');
  sha256_of(folder.file("million", longer), reports);
  EXPECT_EQ(std::count(reports.all.begin(), reports.all.end(), std::pair<int64_t, int64_t>(3'000'000, 3'000'000)), 1);
}

TEST(Checksum, NamesAFileThatIsNotThere) {
  const TemporaryFolder folder;
  NoProgress progress;
  const auto path = folder / "missing";
  EXPECT_THROWS(DataError, md5_of(path, progress),
                (path.string() + ": cannot be read: No such file or directory").c_str());
}

}  // namespace
}  // namespace priornet
