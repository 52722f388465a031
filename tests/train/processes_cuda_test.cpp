#include <testing/training_processes.h>

// Two processes that share one GPU, by NCCL, train as one does.

namespace priornet {
namespace {

TEST(CudaProcesses, TwoGiveTheLossesOfOneOnAVgg) { expect_same_curve({"cuda"}, 2, 1e-3); }

TEST(CudaProcesses, TwoGiveTheLossesOfOneWithFactorAnalysisOutside) { expect_same_curve({"cuda", "factors"}, 2, 1e-3); }

TEST(CudaProcesses, TwoGiveTheLossesOfOneOnAPerceptron) { expect_same_curve({"cuda", "mlp"}, 2, 1e-3); }

TEST(CudaProcesses, GoOnAsIfNothingHadHappened) {
  const TemporaryFolder folder;
  TrainingProcesses(2, folder / "whole", {"epochs=10", "cuda"}).expect_success();
  TrainingProcesses stopped(2, folder / "stopped", {"epochs=10", "cuda", "silence=3000", "kill=13@1"});
  EXPECT_NE(stopped[0].wait(), 0);
  EXPECT_NE(stopped[0].err().find(stopped.name(1) + " is gone"), std::string::npos) << stopped[0].err();
  EXPECT_NE(stopped[1].wait(), 0);
  TrainingProcesses(2, folder / "stopped", {"epochs=10", "cuda", "resume"}).expect_success();
  const auto wanted = metric(folder / "whole", "loss");
  const auto found = metric(folder / "stopped", "loss");
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-3 * std::max(1.0, wanted[i]));
}

}  // namespace
}  // namespace priornet
