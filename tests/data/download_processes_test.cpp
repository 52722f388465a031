#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <testing/file_server.h>
#include <testing/made_up_bytes.h>
#include <testing/temporary_folder.h>
#include "tool/downloads/download.h"

#include <cstdlib>

// Downloads in processes of their own: killed, two at once, and where a file cannot grow.

namespace priornet {
namespace {

using namespace std::chrono_literals;

template <class Work>
pid_t in_a_process(const Work& work) {
  const pid_t id = ::fork();
  if (id == 0) {
    int status = 1;
    try {
      status = work();
    } catch (const std::exception&) {
    }
    std::_Exit(status);
  }
  return id;
}

int status_of(pid_t id) {
  int status = 0;
  ::waitpid(id, &status, 0);
  return status;
}

class DownloadProcess : public testing::Test {
 protected:
  bool get() const {
    NoProgress progress;
    return Downloader().get(file, folder / "", progress);
  }

  void wait_for_part(uintmax_t size) const {
    std::error_code error;
    for (int i = 0; i < 1000; ++i) {
      const auto came = std::filesystem::file_size(folder / "file.part", error);
      if (!error && came >= size) return;
      std::this_thread::sleep_for(2ms);
    }
    FAIL() << "the part never had " << size << " bytes";
  }

  const TemporaryFolder folder;
  const std::string bytes = random_bytes(1'000'000);
  std::atomic<int> pace{2000};  ///< bytes per millisecond
  FileServer server{[this](const auto&) {
    FileReply reply;
    reply.body = bytes;
    reply.bytes_per_millisecond = pace;
    return reply;
  }};
  KnownFile file{"file", 1'000'000, sha256_of_bytes(bytes), "", {server.url("/file")}};
};

TEST_F(DownloadProcess, IsResumedAfterBeingKilledAtAnyByte) {
  for (const uintmax_t offset : {0, 200'000, 700'000}) {
    std::filesystem::remove(folder / "file");
    pace = 2000;
    const auto before = server.requests().size();
    const auto child = in_a_process([&] { return get() ? 0 : 1; });
    wait_for_part(offset);
    ::kill(child, SIGKILL);
    const int status = status_of(child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before it was killed";
    const auto came = static_cast<int64_t>(std::filesystem::file_size(folder / "file.part"));
    ASSERT_LT(came, 1'000'000);
    EXPECT_EQ(bytes_of(folder / "file.part"), bytes.substr(0, static_cast<size_t>(came)));
    pace = -1;
    EXPECT_TRUE(get());
    EXPECT_EQ(bytes_of(folder / "file"), bytes);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
    const auto requests = server.requests();
    EXPECT_EQ(requests.back().from, came > 0 ? came : -1);
    EXPECT_LE(requests.size(), before + 2);
  }
}

TEST_F(DownloadProcess, WaitsForAnotherThatGetsTheSameFile) {
  const auto child = in_a_process([&] { return get() ? 0 : 1; });
  wait_for_part(100'000);
  EXPECT_FALSE(get());  // the other process got it
  EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(bytes_of(folder / "file"), bytes);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(DownloadProcess, TakesOverWhenTheOtherIsKilled) {
  const auto child = in_a_process([&] { return get() ? 0 : 1; });
  wait_for_part(100'000);
  std::thread killer([&] {
    std::this_thread::sleep_for(100ms);
    ::kill(child, SIGKILL);
  });
  EXPECT_TRUE(get());
  killer.join();
  status_of(child);
  EXPECT_EQ(bytes_of(folder / "file"), bytes);
}

// A limit on the size of files plays a full disk.
TEST_F(DownloadProcess, KeepsWhatCameWhereNoMoreCanBeWritten) {
  pace = -1;
  const auto child = in_a_process([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &most);
    try {
      get();
    } catch (const NoSourceError&) {
      return 2;  // it is not the source's fault
    } catch (const DataError& error) {
      const auto expected = (folder / "file.part").string() + ": cannot be written: File too large";
      return error.what() == expected ? 0 : 3;
    }
    return 4;
  });
  EXPECT_EQ(WEXITSTATUS(status_of(child)), 0);
  EXPECT_EQ(bytes_of(folder / "file.part"), bytes.substr(0, 100'000));
  EXPECT_TRUE(get());
  EXPECT_EQ(server.requests().back().from, 100'000);
  EXPECT_EQ(bytes_of(folder / "file"), bytes);
}

}  // namespace
}  // namespace priornet
