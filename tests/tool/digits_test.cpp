#include <fcntl.h>
#include <sys/stat.h>
#include <testing/http_client.h>
#include <testing/started_process.h>
#include <testing/tool.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

// The model of digits that comes with the tool.

namespace priornet {
namespace {

const std::filesystem::path kSamples = std::filesystem::path(PRIORNET_SOURCE) / "models" / "samples";

TEST(Digits, JudgesTheSampleImages) {
  const auto said = run_tool({"predict", "digits:", kSamples.string(), "--format", "jsonl"});
  ASSERT_EQ(said.status, 0) << said.err;
  std::map<std::string, std::string> verdicts;  // "3 accept"
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    verdicts[std::filesystem::path(row["input"].get<std::string>()).stem().string()] =
        row["prediction"].get<std::string>() + " " + row["verdict"].get<std::string>();
  }
  ASSERT_EQ(verdicts.size(), 5U);
  EXPECT_EQ(verdicts["three"], "3 accept");
  EXPECT_EQ(verdicts["seven"], "7 accept");
  EXPECT_TRUE(verdicts["letter"].ends_with(" unfamiliar")) << verdicts["letter"];
  EXPECT_TRUE(verdicts["shirt"].ends_with(" unfamiliar")) << verdicts["shirt"];
}

TEST(Digits, IsSmallEnoughForTheRepository) {
  EXPECT_LT(std::filesystem::file_size(std::filesystem::path(PRIORNET_SOURCE) / "models" / "digits.priornet"),
            1'000'000U);
}

TEST(Digits, IsServedWhereNoModelIsNamed) {
  const auto port = free_local_port();
  StartedProcess server({PRIORNET_TOOL_PATH, "--threads", "1", "serve", "--port", std::to_string(port)},
                        std::vector<std::string>{});
  bool listens = false;
  while (!listens && server.wait(std::chrono::milliseconds(10)) == -1) {
    try {
      const auto models = nlohmann::json::parse(HttpClient(port).ask("GET", "/v2/models").body);
      EXPECT_EQ(models["models"].dump(), R"(["digits"])");
      listens = true;
    } catch (const std::runtime_error&) {  // not yet
    }
  }
  EXPECT_TRUE(listens) << server.err();
  EXPECT_NE(server.err().find("no MODEL was given: serving the digit model that comes with priornet"),
            std::string::npos)
      << server.err();
}

// As at a terminal where nothing was typed, or behind a program that writes nothing.
TEST(Digits, StopsWaitingForInputOnCtrlC) {
  const InputFiles files;
  const auto input = (files / "input").string();
  ASSERT_EQ(::mkfifo(input.c_str(), 0600), 0);
  const int writer = ::open(input.c_str(), O_RDWR | O_CLOEXEC);
  const auto out = files.text("out", "");
  StartedProcess waiting(
      {"/bin/sh", "-c", "exec \"$0\" predict digits: - <\"$1\" >\"$2\"", PRIORNET_TOOL_PATH, input, out}, {});
  while (bytes_of(out).empty() && waiting.wait(std::chrono::milliseconds(10)) == -1) {
  }
  waiting.wait(std::chrono::milliseconds(300));  // it has written the header and waits
  ::kill(waiting.id(), SIGINT);
  EXPECT_EQ(waiting.wait(), 128 + SIGINT) << waiting.err();
  ::close(writer);
}

TEST(Digits, IsMeasuredByBench) {
  const auto said = run_tool({"bench", "--model", "digits:", "--only", "scoring", "--seconds", "0.001", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_FALSE(nlohmann::json::parse(said.out)["scoring"].empty()) << said.out;
}

TEST(Digits, IsCopiedWhereResultsAreKeptBesideIt) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"evaluate", "digits:"},
                                             {"evaluate", "digits:", "--logits", "z.npy", "--labels", "y.npy"},
                                             {"report", "digits:"}}) {
    const auto refused = run_tool(words);
    EXPECT_EQ(refused.status, 1);
    EXPECT_TRUE(refused.err.starts_with("priornet: digits: comes with priornet, and " + words[0] +
                                        " needs results "
                                        "beside the model: copy "))
        << refused.err;
    EXPECT_TRUE(refused.err.ends_with("/digits.priornet to a folder of yours and name the copy\n")) << refused.err;
  }
}

TEST(Digits, IsTheOnlyModelWithAName) {
  expect_misuse(run_tool({"predict", "letters:", "a.png"}),
                "MODEL: Path does not exist: letters: (see priornet predict --help)");
}

}  // namespace
}  // namespace priornet
