#pragma once

#include <priornet/core/errors.h>
#include <priornet/core/progress.h>
#include <priornet/train/config.h>
#include <priornet/train/epoch_report.h>
#include <priornet/train/run_folder.h>
#include <priornet/train/training_sets.h>

#include <functional>
#include <memory>

namespace priornet {

struct TrainerOptions {
  torch::Device device = torch::kCPU;
  bool resume = false;                               ///< from the folder's last checkpoint, if it has one
  std::function<bool()> stop;                        ///< asked after each step; then a checkpoint is written
  std::function<void(const EpochReport&)> on_epoch;  ///< hears of each epoch
};

/// Stopped as asked, with a checkpoint to go on from.
class TrainingStopped : public Error {
 public:
  using Error::Error;
};

/// Trains a network and leaves it in the run's folder. The same configuration, device and thread count give the same
/// network, also when the run was stopped, or killed, and resumed in between (on a CPU; on a GPU to rounding).
/// Error that names step, rows and last checkpoint where a loss is not finite, or the batch for which memory does not
/// suffice; DataError for a checkpoint that does not fit; TrainingStopped.
std::shared_ptr<Network> train(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder,
                               const TrainerOptions& options, Progress& progress);

}  // namespace priornet
