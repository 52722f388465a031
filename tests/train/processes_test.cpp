#include <testing/temporary_folder.h>
#include <testing/training_processes.h>

// Several processes train as one does.

namespace priornet {
namespace {

const char* const kEndOfTenEpochs = "checkpoints/step-00000020.safetensors";  // of 10 epochs, two steps each

TEST(Processes, TwoGiveTheLossesOfOneOnAVgg) { expect_same_curve({}, 2); }

TEST(Processes, TwoGiveTheLossesOfOneWithFactorAnalysisOutside) { expect_same_curve({"factors"}, 2); }

TEST(Processes, TwoGiveTheLossesOfOneOnAPerceptron) { expect_same_curve({"mlp"}, 2); }

TEST(Processes, ThreeGiveTheLossesOfOne) { expect_same_curve({"mlp"}, 3); }

TEST(Processes, StopTogetherWhereOneIsAskedAndGoOnAsIfNothingHadHappened) {
  const TemporaryFolder folder;
  TrainingProcesses(2, folder / "whole", {"epochs=10"}).expect_success();
  TrainingProcesses stopped(2, folder / "stopped", {"epochs=10", "ask=7@1"});
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(stopped[rank].wait(), 1);
    EXPECT_EQ(stopped[rank].err(), fmt::format("stopped at step 7; --resume goes on from {}\n",
                                               (folder / "stopped/checkpoints/step-00000007.safetensors").string()));
  }
  TrainingProcesses(2, folder / "stopped", {"epochs=10", "resume"}).expect_success();
  EXPECT_EQ(bytes_of(folder / "stopped" / kEndOfTenEpochs), bytes_of(folder / "whole" / kEndOfTenEpochs));
  const auto wanted = metric(folder / "whole", "loss");
  const auto found = metric(folder / "stopped", "loss");
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12 * wanted[i]);
}

}  // namespace
}  // namespace priornet
