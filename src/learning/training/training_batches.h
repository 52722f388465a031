#pragma once

#include <priornet/learning/augmentation.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/method.h>
#include <priornet/learning/outliers.h>

#include <memory>

#include "learning/training/batch_order.h"

namespace priornet {

/// Which part of each batch a process takes: the `rank`-th of `processes` equal ones.
struct BatchShare {
  int64_t rank = 0;
  int64_t processes = 1;
};

struct TrainingBatchesOptions {
  int64_t batch = 128;          ///< in-distribution inputs per step, of all processes together
  int64_t outside_batch = 128;  ///< out-of-distribution inputs per step, likewise; 0 without a source
  AugmentationOptions augmentation;
  double noise = 0.0;  ///< standard deviation, in [-1, 1] units
  uint64_t seed = 0;
  BatchShare share;
  bool channels_last = false;  ///< how images lie in memory
  bool bfloat16 = false;       ///< images may come in bfloat16, as matrix products take them anyway
};

struct TrainingBatch {
  torch::Tensor inputs;  ///< [N + M, ...]: in distribution first, then outside
  BatchTargets targets;  ///< the labels of the first N
};

/// What batches are made from, on the device.
struct BatchSources {
  torch::Tensor inputs;  ///< of the training set
  torch::Tensor labels;  ///< int64
  BatchOrder order;
  OutsideSource* outside = nullptr;
  TrainingBatchesOptions options;
};

/// The rows of a batch of `whole` that a process takes.
struct BatchPart {
  int64_t first;
  int64_t count;
};
inline BatchPart part_of(int64_t whole, const BatchShare& share) {
  const auto count = whole / share.processes;
  return {share.rank * count, count};
}

/// Keeps the draws for the two parts of a batch apart.
constexpr const char* kInsideDraws = "inside";
constexpr const char* kOutsideDraws = "outside";

class KernelBatches;

/// The batches of a run as a network takes them: gathered, augmented and brought to [-1, 1] on the device. Batch and
/// share are functions of seed and step alone, so that a run can go on at any step and be shared by any number of
/// processes.
class TrainingBatches {
 public:
  /// `train` and `outside`, which may be null, outlive it.
  /// ArgumentError unless the batches can be shared out evenly.
  TrainingBatches(const Dataset& train, OutsideSource* outside, const torch::Device& device,
                  const TrainingBatchesOptions& options);
  ~TrainingBatches();

  /// What the host has to do for a step; then make(), or a replay of it, fills batch().
  void prepare(int64_t step);

  /// What the device has to do: always the same kernels, so that it can be part of a CUDA graph.
  void make();

  /// On a GPU always in the same memory.
  const TrainingBatch& batch() const;

  /// The same by tensor operations alone, inputs float32.
  TrainingBatch at(int64_t step);

  /// The rows of the training set that make the in-distribution part of a step, int64 on the device.
  torch::Tensor rows(int64_t step);

  int64_t steps_per_epoch() const { return sources_.inputs.size(0) / sources_.options.batch; }

 private:
  torch::Tensor prepared(const torch::Tensor& images, const char* draws, int64_t step, int64_t whole) const;

  BatchSources sources_;
  // For images on a GPU, else null: there one kernel saves several launches and passes over memory, and a graph that
  // holds the batch too leaves the host nothing to launch. kernel_batches_test.cpp holds both to the same batches.
  std::unique_ptr<KernelBatches> by_kernel_;
  TrainingBatch batch_;  ///< of the last step prepared, without a kernel
};

}  // namespace priornet
