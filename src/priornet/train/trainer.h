#pragma once

#include <priornet/core/errors.h>
#include <priornet/core/progress.h>
#include <priornet/data/dataset.h>
#include <priornet/train/config.h>
#include <priornet/train/outside.h>
#include <priornet/train/run_folder.h>
#include <priornet/train/validation.h>

#include <functional>
#include <memory>
#include <optional>

namespace priornet {

/// What a run learns from.
struct TrainingSets {
  Dataset train;
  std::optional<Dataset> validation;
  torch::Tensor teacher;  ///< probabilities [N, K] of the training inputs, of method distil
};

/// An epoch that is over.
struct EpochReport {
  int64_t epoch = 0;  ///< 1, 2, ...
  double loss = 0.0;  ///< means over the epoch's steps, as the others
  double inside = 0.0;
  double outside = 0.0;
  double cross_entropy = 0.0;
  double gradient_norm = 0.0;
  double rate = 0.0;  ///< the learning rate of the last step
  double seconds = 0.0;
  double images_a_second = 0.0;
  std::optional<Validation> validation;
};

/// One line of metrics.jsonl.
std::string to_json(const EpochReport& report);

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
/// Error that names step, rows and last checkpoint where a loss is not finite; DataError for a checkpoint that does not
/// fit; TrainingStopped.
std::shared_ptr<Network> train(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder,
                               const TrainerOptions& options, Progress& progress);

}  // namespace priornet
