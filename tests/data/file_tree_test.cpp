#include "learning/data/file_tree.h"
#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/archive_bytes.h>
#include <testing/gzip_bytes.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <map>
#include <memory>

namespace priornet {
namespace {

using Files = std::map<std::string, std::string>;

Files all_of(const std::filesystem::path& root) {
  Files files;
  visit_files(
      root, [](const auto&) { return true; },
      [&](const auto& path, ByteStream& bytes) { files[path] = bytes.read_rest(1000); });
  return files;
}

TEST(FileTree, VisitsAFolderAnArchiveAndAFileInOneWay) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "tree/b");
  folder.file("tree/a.txt", "first");
  folder.file("tree/b/c.txt.gz", gzip_bytes("second"));
  folder.file("tree/.hidden", "not this");
  const Files expected{{"a.txt", "first"}, {"b/c.txt", "second"}};
  EXPECT_EQ(all_of(folder / "tree"), expected);
  const std::vector<std::pair<std::string, std::string>> files{{"./a.txt", "first"},
                                                               {"b/c.txt.gz", gzip_bytes("second")}};
  EXPECT_EQ(all_of(folder.file("tree.tar.gz", archive_bytes(files))), expected);
  EXPECT_EQ(all_of(folder.file("tree.zip", archive_bytes(files, true))), expected);
  EXPECT_EQ(all_of(folder / "tree/b/c.txt.gz"), (Files{{"c.txt", "second"}}));
}

TEST(FileTree, FollowsALinkToAFolderButNotInCircles) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "tree");
  std::filesystem::create_directories(folder / "elsewhere");
  folder.file("elsewhere/a.txt", "linked");
  std::filesystem::create_directory_symlink(folder / "elsewhere", folder / "tree/b");
  std::filesystem::create_directory_symlink("..", folder / "tree/round");
  std::filesystem::create_directory_symlink(folder / "tree", folder / "elsewhere/back");
  EXPECT_EQ(all_of(folder / "tree"), (Files{{"b/a.txt", "linked"}}));
}

TEST(FileTree, PrefersThePlainFileToItsCompressedTwin) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "tree");
  folder.file("tree/a", "plain");
  folder.file("tree/a.gz", gzip_bytes("compressed"));
  EXPECT_EQ(all_of(folder / "tree"), (Files{{"a", "plain"}}));
}

TEST(FileTree, SaysWhereGzipDataEndsTooSoon) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.gz", gzip_bytes("some bytes").substr(0, 12));
  EXPECT_THROWS(DataError, all_of(path), (path.string() + ": ends at byte 12, within gzip data").c_str());
}

TEST(FileTree, RefusesAnEntryThatLeadsOut) {
  const TemporaryFolder folder;
  for (const std::string name : {"../evil", "/etc/evil", "a/../../evil"}) {
    const auto path = folder.file("evil.tar.gz", archive_bytes({{name, "x"}}));
    EXPECT_THROWS(DataError, all_of(path), (path.string() + ": entry " + name + " leads out of the archive").c_str());
  }
}

TEST(FileTree, HoldsAnArchiveToItsLimits) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.zip", archive_bytes({{"a", "12345"}, {"b", "12345"}}, true));
  const auto visit = [&](const ArchiveLimits& limits) {
    visit_archive(
        path, [](const auto&) { return true; }, [](const auto&, ByteStream&) {}, limits);
  };
  visit({2, 10});
  EXPECT_THROWS(DataError, visit({1, 10}), (path.string() + ": holds more than the 1 files allowed").c_str());
  EXPECT_THROW(visit({2, 9}), DataError);
}

TEST(FileTree, NoticesATruncatedArchive) {
  const TemporaryFolder folder;
  const std::string noise(600, '\7');
  for (const bool zip : {false, true}) {
    const auto whole = archive_bytes({{"a", noise}}, zip);
    const auto path = folder.file(zip ? "a.zip" : "a.tar.gz", whole.substr(0, whole.size() / 2));
    EXPECT_THROW(all_of(path), DataError);
  }
}

TEST(ByteStream, NamesTheOffsetOfATooEarlyEnd) {
  MemoryStream bytes("memory", "0123456789");
  char room[7];
  bytes.read_exactly(room, 4, "the head");
  EXPECT_THROWS(DataError, bytes.read_exactly(room, 7, "the body"),
                "memory: ends at byte 10 (of the body, 7 bytes from byte 4)");
}

TEST(ByteStream, NamesTheOffsetOfATooLateEnd) {
  MemoryStream bytes("memory", "0123456789");
  char four[4];
  bytes.read_exactly(four, 4, "the head");
  EXPECT_THROWS(DataError, bytes.expect_end("the head"), "memory: goes on after byte 4, where the head ends");
  EXPECT_THROWS(DataError, MemoryStream("memory", "0123").read_rest(3), "memory: has more than the 3 bytes allowed");
}

}  // namespace
}  // namespace priornet
