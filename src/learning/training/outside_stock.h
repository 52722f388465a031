#pragma once

#include <priornet/learning/outliers.h>

#include "learning/training/batch_images.h"

namespace priornet {

/// Outside inputs for a kernel that gathers them itself (kernel_batches.h): images in memory that stays where it is. A
/// source that is no stock as well is copied into one, batch by batch.
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

}  // namespace priornet
