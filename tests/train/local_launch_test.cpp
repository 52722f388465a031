#include <arpa/inet.h>
#include <priornet/uncertainty/errors.h>
#include <sys/socket.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include <testing/training_processes.h>

#include <fstream>

namespace priornet {
namespace {

StartedProcess launch(const std::filesystem::path& folder, const std::vector<std::string>& settings = {},
                      const std::vector<std::string>& variables = {}) {
  std::vector<std::string> command{PRIORNET_TRAINING_PROCESS, folder.string(), "mlp", "launch=2"};
  command.insert(command.end(), settings.begin(), settings.end());
  return StartedProcess(command, variables);
}

std::vector<pid_t> children_of(pid_t id) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", id));
  return {std::istream_iterator<pid_t>(file), {}};
}

/// Whether the process runs; a zombie, whose parent has not waited for it yet, does not.
bool runs(pid_t id) {
  const auto text = bytes_of(fmt::format("/proc/{}/stat", id));
  return !text.empty() && text.find(") Z ") == std::string::npos;
}

/// The children, once they train: each step takes a while with pause=20.
std::vector<pid_t> training_children(StartedProcess& launcher, const std::filesystem::path& run) {
  while (!std::filesystem::exists(run / "config.toml") && launcher.wait(5ms) < 0) continue;
  return children_of(launcher.id());
}

/// Whether a socket that may use an address again, or may not, can listen at the port.
bool can_listen(int port, int again) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  const bool listens =
      ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && ::listen(socket, 1) == 0;
  ::close(socket);
  return listens;
}

TEST(HeldPort, IsForThoseWhoKnowItsNumber) {
  const HeldPort port;
  EXPECT_FALSE(can_listen(port.number(), 0)) << "another program could take it";
  EXPECT_TRUE(can_listen(port.number(), 1));
}

TEST(LocalLaunch, TrainsAsProcessesThatWereStartedByHand) {
  const TemporaryFolder folder;
  auto launched = launch(folder / "launched");
  EXPECT_EQ(launched.wait(), 0) << launched.err();
  TrainingProcesses(2, folder / "by hand", {"mlp"}).expect_success();
  EXPECT_EQ(metric(folder / "launched", "loss"), metric(folder / "by hand", "loss"));
}

TEST(LocalLaunch, FailsAsTheOneThatFailed) {
  const TemporaryFolder folder;
  auto launched = launch(folder / "run", {"fail=3@1"});
  EXPECT_EQ(launched.wait(), 1);
  EXPECT_TRUE(launched.err().starts_with("as asked\n")) << launched.err();
  EXPECT_TRUE(launched.err().ends_with(" is gone: as asked\n")) << launched.err();
}

TEST(LocalLaunch, NamesTheOneThatWasKilled) {
  const TemporaryFolder folder;
  auto launched = launch(folder / "run", {"kill=3@1"});
  EXPECT_EQ(launched.wait(), 1);
  EXPECT_TRUE(launched.err().ends_with(" is gone: it closed its connections\n")) << launched.err();
}

TEST(LocalLaunch, EndsTheProcessesWithItself) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    const TemporaryFolder folder;
    auto launched = launch(folder / "run", {"epochs=1000", "pause=20"});
    const auto children = training_children(launched, folder / "run");
    ASSERT_EQ(children.size(), 1u);
    // Stopped processes cannot notice by themselves that process 0 is gone.
    for (const auto child : children) ::kill(child, SIGSTOP);
    ::kill(launched.id(), signal);
    EXPECT_EQ(launched.wait(), 128 + signal);
    for (const auto child : children) {
      for (int i = 0; i < 30'000 && runs(child); ++i) std::this_thread::sleep_for(2ms);
      EXPECT_FALSE(runs(child));
      ::kill(child, SIGKILL);
    }
  }
}

TEST(LocalLaunch, RefusesFewerThanOneProcess) {
  EXPECT_THROWS(ArgumentError, LocalProcesses(LocalLaunch{0, 1}),
                "LocalProcesses: processes should be at least 1, found 0");
}

TEST(LocalLaunch, RefusesToStartInAnEnvironmentOfSeveralProcesses) {
  const TemporaryFolder folder;
  auto launched = launch(folder / "run", {}, {"RANK=0", "WORLD_SIZE=4", "MASTER_ADDR=127.0.0.1"});
  EXPECT_EQ(launched.wait(), 1);
  EXPECT_EQ(launched.err(), "the environment already makes this process one of 4: do not give --processes too\n");
}

}  // namespace
}  // namespace priornet
