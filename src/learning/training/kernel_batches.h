#pragma once

#include <priornet/learning/outliers.h>

#include "learning/training/batch_images.h"
#include "learning/training/training_batches.h"

namespace priornet {

/// Outside inputs for a kernel that gathers them itself (kernel_batches.h): images in memory that never moves. A source
/// that cannot give such a stock is copied into one, batch by batch.
class OutsideStock {
 public:
  virtual ~OutsideStock() = default;

  /// Where the kernel finds the images of every step.
  struct Images {
    torch::Tensor images;  ///< uint8 [..., C, H, W]
    PassRing order;
  };
  /// `any`: the batch of some step.
  virtual Images images(const OutsideBatch& any) = 0;

  /// The host's work, so that the stock holds this batch.
  virtual void prepare(const OutsideBatch& batch) { static_cast<void>(batch); }

  /// The device's work after that, always the same: the counter `step` on the device says which step it is.
  virtual void draw(const int64_t* step) { static_cast<void>(step); }
};

/// The batches of TrainingBatches, made in place by one kernel that reads the step from a counter on the device, so
/// that it can be part of a CUDA graph. For each step first prepare(step), then make() or a replay of it. A second way
/// beside tensor operations: whole training steps of VGG-16 on an H200 are 6 % faster (docs/results.md).
class KernelBatches {
 public:
  /// For images. `sources` must outlive this object.
  explicit KernelBatches(BatchSources& sources);

  /// The host's work: the order of a new pass, outliers that are drawn.
  void prepare(int64_t step);

  /// The device's work: kernels only, always the same.
  void make();

  /// What make() fills: inputs float32 or bfloat16.
  const TrainingBatch& batch() const { return batch_; }

 private:
  ImagePart inside_part();
  ImagePart outside_part();

  BatchSources& sources_;
  std::unique_ptr<OutsideStock> copies_;  ///< of a source that is not a stock
  OutsideStock* outside_ = nullptr;       ///< null without one
  int64_t next_ = -1;                     ///< the step that the counter holds, as far as the host knows
  torch::Tensor step_;                    ///< int64 [1]
  torch::Tensor rows_;                    ///< of the batch in the training set
  TrainingBatch batch_;
  ImageBatch images_{};
  BatchRows labels_{};
};

}  // namespace priornet
