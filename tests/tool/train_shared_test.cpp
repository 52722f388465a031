#include <testing/started_process.h>
#include <testing/train_files.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

nlohmann::json last_epoch(const TrainFiles& files, const std::string& run, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"train", files.config(),         "--out", (files / run).string(),
                                        "--set", "model.keep_dense=1.0", "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto outcome = run_tool(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(TrainShared, EndsWhereOneProcessDoes) {
  const TrainFiles files;
  const auto alone = last_epoch(files, "alone", {});
  const auto shared = last_epoch(files, "shared", {"--processes", "2"});
  EXPECT_EQ(shared["epoch"], 3);
  EXPECT_NEAR(shared["loss"].get<double>(), alone["loss"].get<double>(), 1e-4);
  EXPECT_TRUE(std::filesystem::exists(files / "shared" / "checkpoints" / "step-00000030.safetensors"));
}

TEST(TrainShared, ReplacesARunOfAnotherConfiguration) {
  const TrainFiles files;
  last_epoch(files, "run", {});
  const auto shared = last_epoch(files, "run", {"--processes", "2", "--force", "--set", "training.epochs=1"});
  EXPECT_EQ(shared["epoch"], 1);
  EXPECT_TRUE(std::filesystem::exists(files / "run" / "checkpoints" / "step-00000010.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(files / "run" / "checkpoints" / "step-00000030.safetensors"));
}

TEST(TrainShared, RefusesBatchesThatCannotBeShared) {
  const TrainFiles files;
  const auto outcome = run_tool({"train", files.config(), "--out", (files / "run").string(), "--processes", "3"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("a batch should be a multiple of the 3 processes, found 32\n"), std::string::npos)
      << outcome.err;
}

// As if memory ran out while the process starts.
TEST(TrainShared, SaysThatAProcessWasKilledBeforeItKnewTheOthers) {
  const TrainFiles files;
  StartedProcess first(
      {PRIORNET_TOOL_PATH, "train", files.config(), "--out", (files / "run").string(), "--processes", "2"}, {});
  const auto list = "/proc/" + std::to_string(first.id()) + "/task/" + std::to_string(first.id()) + "/children";
  std::vector<pid_t> children;
  while (children.empty() && first.wait(std::chrono::milliseconds(1)) < 0) {
    std::ifstream file(list);
    children.assign(std::istream_iterator<pid_t>(file), {});
  }
  for (const auto child : children) ::kill(child, SIGKILL);
  EXPECT_EQ(first.wait(), 1);
  EXPECT_EQ(first.err(), "priornet: process 1 of 2 ended before it knew the others, by a signal: Killed\n");
}

}  // namespace
}  // namespace priornet
