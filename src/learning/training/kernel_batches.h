#pragma once

#include "learning/training/batch_images.h"
#include "learning/training/outside_stock.h"
#include "learning/training/training_batches.h"

namespace priornet {

/// The batches of TrainingBatches made in place by one kernel, which finds the step in a counter on the device: what
/// can be part of a CUDA graph. For each step first prepare(step), then make() or a replay of it.
class KernelBatches {
 public:
  /// Of images. `sources` outlives it.
  explicit KernelBatches(BatchSources& sources);

  /// What the host has to do: the order of a new pass, outliers that are drawn.
  void prepare(int64_t step);

  /// What the device has to do: kernels only, always the same.
  void make();

  /// What make() fills: inputs float32 or bfloat16.
  const TrainingBatch& batch() const { return batch_; }

 private:
  ImagePart inside_part();
  ImagePart outside_part();

  BatchSources& sources_;
  std::unique_ptr<OutsideStock> copies_;  ///< of a source that is no stock
  OutsideStock* outside_ = nullptr;       ///< null without one
  int64_t next_ = -1;                     ///< the step that the counter holds, for all the host knows
  torch::Tensor step_;                    ///< int64 [1]
  torch::Tensor rows_;                    ///< of the batch in the training set
  TrainingBatch batch_;
  ImageBatch images_{};
  BatchRows labels_{};
};

}  // namespace priornet
