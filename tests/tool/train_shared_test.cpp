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

// As where memory runs out while they read their data.
TEST(TrainShared, SaysThatItsProcessesWereKilledBeforeTheyKnewEachOther) {
  const TrainFiles files;
  StartedProcess launcher(
      {PRIORNET_TOOL_PATH, "train", files.config(), "--out", (files / "run").string(), "--processes", "2"}, {});
  const auto list = "/proc/" + std::to_string(launcher.id()) + "/task/" + std::to_string(launcher.id()) + "/children";
  std::vector<pid_t> children;
  while (children.size() < 2 && launcher.wait(std::chrono::milliseconds(1)) < 0) {
    std::ifstream file(list);
    children.assign(std::istream_iterator<pid_t>(file), {});
  }
  for (const auto child : children) ::kill(child, SIGKILL);
  EXPECT_EQ(launcher.wait(), 128 + SIGKILL);
  EXPECT_EQ(launcher.err(), "priornet: a signal ended one of the 2 processes: Killed\n");
}

}  // namespace
}  // namespace priornet
