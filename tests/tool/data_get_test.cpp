#include <priornet/learning/catalogue.h>
#include <signal.h>
#include <testing/file_server.h>
#include <testing/made_up_bytes.h>
#include <testing/real_data.h>
#include <testing/tool.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using namespace std::chrono_literals;

/// Runs the tool with a mirror of our own, an empty data root, and no way to reach any other host.
class DataGet : public testing::Test {
 protected:
  DataGet() {
    // Nobody listens at this proxy; requests to 127.0.0.1 do not go through it.
    for (const auto* name : {"http_proxy", "https_proxy"}) ::setenv(name, "http://127.0.0.1:1", 1);
    ::setenv("PRIORNET_DATA", root().c_str(), 1);
    ::setenv("PRIORNET_MIRROR", server.url("/mirror/").c_str(), 1);
  }

  std::string root() const { return (folder / "root").string(); }
  std::filesystem::path file(const std::string& ending = "") const {
    return folder / ("root/semeion/semeion.data" + ending);
  }

  /// Starts `priornet data get semeion`, sends it a signal when that many bytes have come, and returns how it ended.
  int ended_by(int signal, uintmax_t enough) const {
    std::vector<std::string> command{PRIORNET_TOOL_PATH, "data", "get", "semeion"};
    std::vector<char*> arguments;
    for (auto& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    EXPECT_EQ(::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    std::error_code error;
    for (int i = 0; i < 10'000; ++i) {
      const auto came = std::filesystem::file_size(file(".part"), error);
      if (!error && came >= enough) break;
      std::this_thread::sleep_for(1ms);
    }
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  std::string bytes;
  std::atomic<int> pace{-1};
  FileServer server{[this](const FileRequest& request) {
    FileReply reply;
    reply.body = bytes;
    reply.status = request.path == "/mirror/semeion/semeion.data" ? 200 : 404;
    reply.bytes_per_millisecond = pace;
    return reply;
  }};
  const TemporaryFolder folder;
};

TEST_F(DataGet, KeepsWhatCameWhenItIsKilledAndGoesOnFromThere) {
  bytes = random_bytes(static_cast<size_t>(entry_named("semeion").files[0].size));
  pace = 1000;
  EXPECT_EQ(ended_by(SIGKILL, 200'000), SIGKILL);
  const auto killed = std::filesystem::file_size(file(".part"));
  EXPECT_GE(killed, 200'000u);
  EXPECT_EQ(ended_by(SIGINT, killed + 100'000), SIGINT);
  const auto stopped = std::filesystem::file_size(file(".part"));
  EXPECT_GE(stopped, killed + 100'000);
  EXPECT_EQ(bytes_of(file(".part")), bytes.substr(0, stopped));

  // The made-up bytes are not the published ones: when all have come, the tool fetches them again and then sets them
  // aside.
  pace = -1;
  const auto outcome = run_tool({"data", "get", "semeion"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("has SHA-256 " + sha256_of_bytes(bytes)), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("By hand: put semeion.data into " + root() + "/semeion"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_EQ(bytes_of(file(".bad")), bytes);
  std::vector<int64_t> froms;
  for (const auto& request : server.requests()) froms.push_back(request.from);
  EXPECT_EQ(froms, (std::vector<int64_t>{-1, static_cast<int64_t>(killed), static_cast<int64_t>(stopped), -1}));
}

TEST_F(DataGet, EndsWithAWholeFileWhereverItWasKilled) {
  REAL_DATA(real, "semeion/semeion.data");
  bytes = bytes_of(real);
  pace = 5000;
  for (const uintmax_t at : {0, 1'000'000, 2'000'000}) EXPECT_EQ(ended_by(SIGKILL, at), SIGKILL);
  pace = -1;
  const auto outcome = run_tool({"data", "get", "semeion"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "semeion: got from the web, at " + root() + "/semeion; the checksums agree\n");
  EXPECT_EQ(bytes_of(file()), bytes);
  const auto again = run_tool({"data", "get", "semeion", "--json"});
  const auto json = nlohmann::json::parse(again.out);
  EXPECT_EQ(json[0]["from"], "");
  EXPECT_EQ(json[0]["checksums_agree"], true);
}

TEST_F(DataGet, SaysTheTermsOfARestrictedSet) {
  const auto outcome = run_tool({"data", "get", "svhn", "--from", "web"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.err.starts_with("priornet: svhn: " + entry_named("svhn").terms + "\n")) << outcome.err;
}

TEST_F(DataGet, TakesNothingThatCannotBeCheckedUnlessAskedTo) {
  const auto refused = run_tool({"data", "get", "lsun", "--from", "web"});
  expect_failure(refused,
                 "lsun: no checksum of lsun/test_lmdb.zip is known, so nobody can check whether the file is the "
                 "published one: --unverified takes it anyway");
  EXPECT_EQ(server.requests().size(), 0u);
  EXPECT_EQ(run_tool({"data", "get", "lsun", "--from", "web", "--unverified"}).status, 1);
  EXPECT_EQ(server.requests().size(), 1u) << "it was looked for, and is not there";
}

TEST_F(DataGet, GoesOnToTheNextSetWhereOneCannotBeGot) {
  const auto outcome = run_tool({"data", "get", "kmnist", "semeion", "--from", "web"});
  EXPECT_EQ(outcome.status, 1);
  for (const auto* said : {"priornet: kmnist/", "priornet: semeion/", "could not get 2 of 2 sets: kmnist, semeion\n"})
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
}

TEST_F(DataGet, RefusesAnUnknownSetBeforeItFetchesAnother) {
  const auto outcome = run_tool({"data", "get", "semeion", "semeoin"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(server.requests().size(), 0u);
  EXPECT_EQ(run_tool({"data", "get"}).status, 2);
  EXPECT_EQ(run_tool({"data", "get", "semeion", "--from", "the shop"}).status, 2);
}

}  // namespace
}  // namespace priornet
