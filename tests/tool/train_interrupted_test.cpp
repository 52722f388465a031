#include <testing/small_runs.h>
#include <testing/started_process.h>
#include <testing/train_files.h>
#include "uncertainty/core/random_stream.h"

#include <cstdlib>

// A run that is killed many times ends with the same bits as an undisturbed run. tools/kill-and-resume kills it more
// often than this test does.

namespace priornet {
namespace {

constexpr int kEpochs = 60;

class InterruptedTraining : public ::testing::Test {
 protected:
  std::vector<std::string> command(const std::string& run) const {
    return {PRIORNET_TOOL_PATH, "--threads", "1", "train", config_, "--out", (files_ / run).string(), "--resume"};
  }

  std::vector<nlohmann::json> metrics(const std::string& run) const {
    return metrics_of(RunFolder(files_ / run, RunFolder::Start::kResume));
  }

  std::string last_checkpoint(const std::string& run) const {
    return bytes_of(files_ / run / "checkpoints" / ("step-00000" + std::to_string(10 * kEpochs) + ".safetensors"));
  }

  void expect_same_end() const {
    EXPECT_EQ(last_checkpoint("disturbed"), last_checkpoint("whole"));
    EXPECT_EQ(metrics("disturbed"), metrics("whole"));
  }

  TrainFiles files_;
  std::string config_ = files_.config();

  void SetUp() override {
    config_ = files_.text("long.toml", bytes_of(config_));
    auto text = bytes_of(config_);
    text.replace(text.find("epochs = 3"), 10, "epochs = " + std::to_string(kEpochs));
    config_ = files_.text("long.toml", text);
    const auto begin = std::chrono::steady_clock::now();
    StartedProcess whole(command("whole"), {});
    ASSERT_EQ(whole.wait(), 0) << whole.err();
    took_ = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  }

  std::chrono::milliseconds took_{};
};

TEST_F(InterruptedTraining, EndsBitForBitAsIfItHadNotBeenKilled) {
  const char* asked = std::getenv("PRIORNET_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 3;
  RandomStream random(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()), 0, 0);
  auto longest = 0.8 * static_cast<double>(took_.count());  // milliseconds
  for (int killed = 0; killed < kills;) {
    StartedProcess run(command("disturbed"), {});
    // Kills it at any moment, also during its start and while it writes; between two kills it makes progress.
    run.wait(std::chrono::milliseconds(static_cast<int64_t>(random.uniform() * longest)));
    ::kill(run.id(), SIGKILL);
    if (run.wait() == 128 + SIGKILL) {
      ++killed;
    } else {  // it ended first, because the machine has become faster: begin again, with less time
      std::filesystem::remove_all(files_ / "disturbed");
      killed = 0;
      longest /= 2;
    }
  }
  StartedProcess last(command("disturbed"), {});
  ASSERT_EQ(last.wait(), 0) << last.err();
  expect_same_end();
}

TEST_F(InterruptedTraining, IsStoppedByCtrlCWithACheckpoint) {
  StartedProcess run(command("disturbed"), {});
  while (!std::filesystem::exists(files_ / "disturbed" / "metrics.jsonl") &&
         run.wait(std::chrono::milliseconds(1)) < 0) {
  }
  ::kill(run.id(), SIGINT);
  ASSERT_EQ(run.wait(), 128 + SIGINT) << run.err();
  EXPECT_NE(run.err().find("; --resume goes on from "), std::string::npos) << run.err();
  StartedProcess last(command("disturbed"), {});
  ASSERT_EQ(last.wait(), 0) << last.err();
  expect_same_end();
}

// Each step is long enough to be shown, so showing progress is not what stops the run.
TEST(SlowTraining, IsStoppedByCtrlCWithACheckpoint) {
  const TrainFiles files;
  const auto run = files / "run";
  StartedProcess training(
      {PRIORNET_TOOL_PATH, "train", files.config(), "--out", run.string(), "--set", "model.blocks=[[64],[64]]",
       "training.batch=160", "training.outside_batch=1000", "training.epochs=1000"},
      {});
  while (!std::filesystem::exists(run / "metrics.jsonl") && training.wait(std::chrono::milliseconds(1)) < 0) {
  }
  ::kill(training.id(), SIGINT);
  ASSERT_EQ(training.wait(), 128 + SIGINT) << training.err();
  EXPECT_NE(training.err().find("; --resume goes on from "), std::string::npos) << training.err();
}

TEST(TrainingThatPrepares, IsStoppedByCtrlCAtOnce) {
  const TrainFiles files;
  const auto generator = make_generator(1);
  write_npz(files / "large.npz", {{"images", torch::randint(0, 256, {400, 28, 28}, generator, torch::kUInt8)},
                                  {"labels", torch::arange(400, torch::kInt64).remainder(4)}});
  const auto run = files / "run";
  StartedProcess training({PRIORNET_TOOL_PATH, "train", files.config(), "--out", run.string(), "--set",
                           "data.train=" + (files / "large.npz").string(), "data.validation=", "outside.latent=300"},
                          {});
  while (!std::filesystem::exists(run / "checkpoints") && training.wait(std::chrono::milliseconds(1)) < 0) {
  }
  training.wait(std::chrono::milliseconds(300));
  ::kill(training.id(), SIGINT);
  EXPECT_EQ(training.wait(), 128 + SIGINT) << training.err();
  EXPECT_EQ(training.err().find("--resume"), std::string::npos) << training.err();
  EXPECT_TRUE(std::filesystem::is_empty(run / "checkpoints"));
}

}  // namespace
}  // namespace priornet
