#include <gtest/gtest.h>
#include <poll.h>
#include <priornet/uncertainty/errors.h>
#include <sys/resource.h>
#include <testing/temporary_folder.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "tool/downloads/get.h"
#include "tool/downloads/packages.h"

namespace priornet {
namespace {

using namespace std::chrono_literals;

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

// A pipe whose write end goes to every process that is started while it lives.
class InheritedPipe {
 public:
  InheritedPipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~InheritedPipe() {
    for (const int end : ends_) ::close(end);
  }
  InheritedPipe(const InheritedPipe&) = delete;
  InheritedPipe& operator=(const InheritedPipe&) = delete;

  /// Whether every other process that held the write end is dead. Waits up to a minute for processes that are being
  /// killed.
  bool is_ours_alone() {
    ::close(std::exchange(ends_[1], -1));
    pollfd end{ends_[0], POLLIN, 0};
    return ::poll(&end, 1, 60'000) == 1 && (end.revents & POLLHUP) != 0;
  }

 private:
  std::array<int, 2> ends_{};
};

// Two processes that run far longer than the test, unless they are killed.
constexpr const char* kTwoProcesses = "sleep 100000 & touch started; sleep 100000";

TEST_F(ChildProcess, IsKilledWithAllItStartedWhenItsTimeIsUp) {
  InheritedPipe pipe;
  EXPECT_TRUE(run({"sh", "-c", kTwoProcesses}, 50ms).timed_out);
  EXPECT_TRUE(pipe.is_ours_alone());
}

struct Impatient final : Progress {
  explicit Impatient(std::filesystem::path file) : awaited(std::move(file)) {}
  void report(std::string_view, int64_t, int64_t) override {
    if (std::filesystem::exists(awaited)) throw std::runtime_error("enough");
  }
  std::filesystem::path awaited;
};

TEST_F(ChildProcess, IsKilledWithAllItStartedWhenTheProgressThrows) {
  InheritedPipe pipe;
  Impatient impatient(folder / "started");
  ChildOptions options;
  options.folder = folder / "";
  EXPECT_THROW(run_child({"sh", "-c", kTwoProcesses}, options, impatient), std::runtime_error);
  EXPECT_TRUE(pipe.is_ours_alone());
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

// As on a network file system without locks; here because no file can be opened.
TEST(ScratchFolder, IsMadeWhereFoldersCannotBeLocked) {
  const TemporaryFolder folder;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const rlimit none{0, files.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const ScratchFolder scratch(folder / "");
  ::setrlimit(RLIMIT_NOFILE, &files);
  EXPECT_TRUE(std::filesystem::is_directory(scratch.path()));
}

TEST(ScratchFolder, NamesARootThatCannotBeMade) {
  const TemporaryFolder folder;
  folder.file("file", "");
  EXPECT_THROW(ScratchFolder(folder / "file/root"), DataError);
}

}  // namespace
}  // namespace priornet
