#include "learning/training/training_progress.h"
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace priornet {
namespace {

struct EndedTasks final : Progress {
  void report(std::string_view task, int64_t done, int64_t total) override {
    if (done == total) names.emplace_back(task);
  }
  std::vector<std::string> names;
};

TEST(TrainingProgress, TellsOfShortEpochsOnceASecondAndOfTheLast) {
  EndedTasks ended;
  TrainingProgress progress(ended, {.epochs = 100, .steps_per_epoch = 2, .inputs_per_step = 8});
  for (int64_t step = 1; step <= 200; ++step) {
    if (step == 100) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    progress.report(step, 0.1, std::nullopt);
  }
  EXPECT_EQ(ended.names, (std::vector<std::string>{"epoch 1 of 100", "epoch 50 of 100", "epoch 100 of 100"}));
}

}  // namespace
}  // namespace priornet
