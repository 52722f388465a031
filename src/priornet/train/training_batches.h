#pragma once

#include <priornet/data/transforms/augmentation.h>
#include <priornet/train/batch_order.h>
#include <priornet/train/method.h>
#include <priornet/train/outside.h>

#include <optional>

namespace priornet {

/// Which part of each batch a process takes: the `rank`-th of `processes` equal ones.
struct BatchShare {
  int64_t rank = 0;
  int64_t processes = 1;
};

struct TrainingBatchesOptions {
  int64_t batch = 128;          ///< in-distribution inputs a step, of all processes together
  int64_t outside_batch = 128;  ///< out-of-distribution inputs a step, likewise; 0 without a source
  AugmentationOptions augmentation;
  double noise = 0.0;  ///< standard deviation, in [-1, 1] units
  uint64_t seed = 0;
  BatchShare share;
};

/// The batches of a run as a network takes them: gathered, augmented and brought to [-1, 1] on the device. Batch and
/// share are functions of seed and step alone, so that a run can go on at any step and be shared by any number of
/// processes.
class TrainingBatches {
 public:
  /// `train` and `outside`, which may be null, outlive it; `teacher` is [N, K] or undefined.
  /// ArgumentError unless the batches can be shared out evenly.
  TrainingBatches(const Dataset& train, torch::Tensor teacher, OutsideSource* outside, const torch::Device& device,
                  const TrainingBatchesOptions& options);

  struct Batch {
    torch::Tensor inputs;  ///< float32 [N + M, ...]: in distribution first, then outside
    BatchTargets targets;  ///< of the first N
  };
  Batch at(int64_t step);

  /// The rows of the training set that make the in-distribution part of a step, int64 on the device.
  torch::Tensor rows(int64_t step);

  int64_t steps_an_epoch() const { return train_.size() / options_.batch; }

 private:
  torch::Tensor prepared(const torch::Tensor& images, const char* purpose, int64_t step, int64_t whole) const;

  const Dataset& train_;
  OutsideSource* outside_;
  torch::Device device_;
  TrainingBatchesOptions options_;
  BatchOrder order_;
  torch::Tensor inputs_;   ///< of the training set, on the device
  torch::Tensor labels_;   ///< on the device
  torch::Tensor teacher_;  ///< on the device
};

}  // namespace priornet
