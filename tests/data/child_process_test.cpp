#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include "tool/downloads/get.h"
#include "tool/downloads/packages.h"

namespace priornet {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class ChildProcess : public testing::Test {
 protected:
  ChildOutcome run(const std::vector<std::string>& command, std::chrono::milliseconds timeout = 60s) {
    ChildOptions options;
    options.folder = folder / "";
    options.timeout = timeout;
    options.task = "running";
    return run_child(command, options, progress);
  }

  const TemporaryFolder folder;
  NoProgress progress;
};

TEST_F(ChildProcess, RunsInTheFolderWithoutAShell) {
  folder.file("a b", "");
  const auto outcome = run({"ls", "a b", "$HOME"});
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("a b\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("'$HOME'"), std::string::npos) << outcome.output;
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a b"});
}

TEST_F(ChildProcess, KnowsThatAProgramIsNotThere) { EXPECT_FALSE(run({"no-such-program"}).found); }

TEST_F(ChildProcess, KeepsTheEndOfALongOutput) {
  const auto outcome = run({"seq", "100000"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output.size(), 4096u);
  EXPECT_TRUE(outcome.output.ends_with("99999\n100000\n"));
}

TEST_F(ChildProcess, IsKilledWithAllItStartedWhenItsTimeIsUp) {
  const auto begin = Clock::now();
  EXPECT_TRUE(run({"sh", "-c", "(sleep 1; echo late > late) & sleep 30"}, 50ms).timed_out);
  EXPECT_LT(Clock::now() - begin, 1s);
  std::this_thread::sleep_for(1200ms);
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

struct Impatient final : Progress {
  void report(std::string_view, int64_t, int64_t) override { throw std::runtime_error("enough"); }
};

TEST_F(ChildProcess, IsKilledWhenTheProgressThrows) {
  Impatient impatient;
  ChildOptions options;
  options.folder = folder / "";
  const auto begin = Clock::now();
  EXPECT_THROW(run_child({"sleep", "30"}, options, impatient), std::runtime_error);
  EXPECT_LT(Clock::now() - begin, 1s);
}

TEST(ScratchFolder, GoesAndTakesThoseThatWereLeftBehindWithIt) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / ".fetch-old/inside");
  std::filesystem::create_directories(folder / "mnist");
  {
    const ScratchFolder one(folder / "");
    const ScratchFolder other(folder / "");
    EXPECT_TRUE(std::filesystem::is_directory(one.path()));
    EXPECT_NE(one.path(), other.path());
    EXPECT_EQ(folder.names().size(), 3u);
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"mnist"});
}

TEST(ScratchFolder, NamesARootThatCannotBeMade) {
  const TemporaryFolder folder;
  folder.file("file", "");
  EXPECT_THROW(ScratchFolder(folder / "file/root"), DataError);
}

}  // namespace
}  // namespace priornet
