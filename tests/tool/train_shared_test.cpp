#include <testing/train_files.h>

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

TEST(TrainShared, RefusesBatchesThatCannotBeShared) {
  const TrainFiles files;
  const auto outcome = run_tool({"train", files.config(), "--out", (files / "run").string(), "--processes", "3"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("a batch should be a multiple of the 3 processes, found 32\n"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace priornet
