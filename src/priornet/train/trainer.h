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

class ProcessGroup;

struct TrainerOptions {
  torch::Device device = torch::kCPU;
  bool resume = false;                               ///< from the folder's last checkpoint, if it has one
  ProcessGroup* processes = nullptr;                 ///< that share the run, each with its part of every batch
  std::function<bool()> stop;                        ///< asked after each step; then a checkpoint is written
  std::function<void(const EpochReport&)> on_epoch;  ///< hears of each epoch
  /// Called by the process that writes, once all is ready and before anything is written.
  std::function<void()> on_begin;
  bool replace = false;  ///< the folder may hold a run of another configuration, which on_begin removes
};

/// Stopped as asked, with a checkpoint to go on from.
class TrainingStopped : public Error {
 public:
  using Error::Error;
};

/// Trains a network and leaves it in the run's folder. The same configuration, device and thread count give the same
/// network, also when the run was stopped, or killed, and resumed in between (on a CPU; on a GPU to rounding).
/// Error that names step, rows and last checkpoint where a loss is not finite, or the batch for which memory does not
/// suffice; DataError for a checkpoint that does not fit, or where another process trains in the folder;
/// TrainingStopped.
/// With several processes, all call it with the same arguments: they stop together, the first alone writes
/// (docs/processes.md). ProcessGone that names the one that has ended; ConfigError where they do not train the same
/// run.
std::shared_ptr<Network> train(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder,
                               const TrainerOptions& options, Progress& progress);

}  // namespace priornet
