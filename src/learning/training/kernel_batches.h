#pragma once

#include <priornet/learning/outliers.h>

#include "learning/training/batch_images.h"
#include "learning/training/training_batches.h"

namespace priornet {

/// Outside inputs for a kernel that gathers them itself (kernel_batches.h): images in memory that stays where it is. A
/// source that is not a stock as well is copied into one, batch by batch.
class OutsideStock {
 public:
  virtual ~OutsideStock() = default;

  /// Where the images of every step are found.
  struct Images {
    torch::Tensor images;  ///< uint8 [..., C, H, W]
    PassRing order;
  };
  /// `any`: the batch of some step.
  virtual Images images(const OutsideBatch& any) = 0;

  /// What the host has to do so that the stock holds this batch.
  virtual void prepare(const OutsideBatch& batch) { static_cast<void>(batch); }

  /// What the device has to do thereafter, always the same: the counter `step` there says which it is.
  virtual void draw(const int64_t* step) { static_cast<void>(step); }
};

/// The batches of TrainingBatches made in place by one kernel, which finds the step in a counter on the device: what
/// can be part of a CUDA graph. For each step first prepare(step), then make() or a replay of it. A second way beside
/// tensor operations: whole training steps of VGG-16 on an H200 are 6 % faster (docs/results.md).
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
  std::unique_ptr<OutsideStock> copies_;  ///< of a source that is not a stock
  OutsideStock* outside_ = nullptr;       ///< null without one
  int64_t next_ = -1;                     ///< the step that the counter holds, for all the host knows
  torch::Tensor step_;                    ///< int64 [1]
  torch::Tensor rows_;                    ///< of the batch in the training set
  TrainingBatch batch_;
  ImageBatch images_{};
  BatchRows labels_{};
};

}  // namespace priornet
