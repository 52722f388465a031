#pragma once

#include <priornet/data/transforms/augmentation.h>
#include <priornet/train/batch_order.h>
#include <priornet/train/method.h>
#include <priornet/train/outside.h>

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
  bool channels_last = false;  ///< how images lie in memory
  bool bfloat16 = false;       ///< images may come in bfloat16, as matrix products take them anyway
};

struct TrainingBatch {
  torch::Tensor inputs;  ///< [N + M, ...]: in distribution first, then outside
  BatchTargets targets;  ///< of the first N
};

/// What batches are made from, on the device.
struct BatchSources {
  torch::Tensor inputs;   ///< of the training set
  torch::Tensor labels;   ///< int64
  torch::Tensor teacher;  ///< [N, K] or undefined
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

}  // namespace priornet
