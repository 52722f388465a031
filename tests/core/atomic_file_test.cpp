#include <priornet/uncertainty/errors.h>
#include <sys/stat.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/base/file_io.h"

namespace priornet {
namespace {

using Names = std::vector<std::string>;

TEST(AtomicFile, AppearsWholeOnCommit) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a.txt");
  file.write("one ");
  file.write("two");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
  file.commit();
  EXPECT_EQ(bytes_of(folder / "a.txt"), "one two");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(AtomicFile, LeavesTheOlderFileWithoutCommit) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.txt", "older");
  {
    AtomicFile file(path);
    file.write("half");
    EXPECT_EQ(bytes_of(path), "older");
  }
  EXPECT_EQ(bytes_of(path), "older");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(AtomicFile, KeepsPermissionsAndFollowsLinks) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.txt", "older");
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  std::filesystem::create_symlink("a.txt", folder / "link");
  AtomicFile file(folder / "link");
  file.write("newer");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(bytes_of(path), "newer");
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0640));
}

TEST(AtomicFile, NamesThePathAndTheReason) {
  const TemporaryFolder folder;
  const auto missing = (folder / "no/such/folder.csv").string();
  EXPECT_THROWS(DataError, AtomicFile{missing}, (missing + ": cannot be written: No such file or directory").c_str());
  const auto taken = (folder / "taken").string();
  std::filesystem::create_directory(taken);
  EXPECT_THROWS(DataError, AtomicFile{taken}, (taken + ": cannot be written: Is a directory").c_str());
  const auto pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROWS(DataError, AtomicFile{pipe}, (pipe + ": cannot be written: it is not a regular file").c_str());
}

TEST(AtomicFile, RemovesTheTemporaryWhenTheRenameFails) {
  const TemporaryFolder folder;
  const auto path = folder / "a.txt";
  {
    AtomicFile file(path);
    std::filesystem::create_directory(path);
    EXPECT_THROW(file.commit(), DataError);
  }
  EXPECT_EQ(folder.names(), Names{"a.txt"});
  EXPECT_TRUE(std::filesystem::is_directory(path));
}

}  // namespace
}  // namespace priornet
