#pragma once

#include <priornet/learning/progress.h>
#include <priornet/learning/training.h>

#include <chrono>
#include <optional>
#include <string>

namespace priornet {

/// Tells a Progress how training goes: epoch, losses, learning rate, inputs per second, how long it will take.
class TrainingProgress {
 public:
  struct Plan {
    int64_t epochs = 0;
    int64_t steps_per_epoch = 0;
    int64_t inputs_per_step = 0;
    int64_t first_step = 0;       ///< other than 0 for a run that goes on
    const char* unit = "images";  ///< what an input is
  };
  TrainingProgress(Progress& progress, const Plan& plan);

  /// `steps` are done; `losses` are those of the epoch so far, if they are known without waiting for the device. If
  /// epochs take less than a second, not every end is reported, but the last one is.
  void report(int64_t steps, double rate, const std::optional<EpochReport>& losses);

 private:
  using Clock = std::chrono::steady_clock;
  std::string describe(int64_t steps, double rate, const std::optional<EpochReport>& losses) const;

  Progress& progress_;
  Plan plan_;
  Clock::time_point started_;
  Clock::time_point told_;
  Pace pace_;  ///< of the ends of epochs
};

}  // namespace priornet
