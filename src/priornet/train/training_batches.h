#pragma once

#include <priornet/data/dataset.h>
#include <priornet/train/batch_sources.h>

#include <memory>

namespace priornet {

class KernelBatches;

/// The batches of a run as a network takes them: gathered, augmented and brought to [-1, 1] on the device. Batch and
/// share are functions of seed and step alone, so that a run can go on at any step and be shared by any number of
/// processes.
class TrainingBatches {
 public:
  /// `train` and `outside`, which may be null, outlive it; `teacher` is [N, K] or undefined.
  /// ArgumentError unless the batches can be shared out evenly.
  TrainingBatches(const Dataset& train, torch::Tensor teacher, OutsideSource* outside, const torch::Device& device,
                  const TrainingBatchesOptions& options);
  ~TrainingBatches();

  /// By tensor operations: inputs float32.
  TrainingBatch at(int64_t step);

  /// The same by a kernel: for images on a GPU, else null.
  KernelBatches* by_kernel() { return by_kernel_.get(); }

  /// The rows of the training set that make the in-distribution part of a step, int64 on the device.
  torch::Tensor rows(int64_t step);

  int64_t steps_an_epoch() const { return sources_.inputs.size(0) / sources_.options.batch; }

 private:
  torch::Tensor prepared(const torch::Tensor& images, const char* draws, int64_t step, int64_t whole) const;

  BatchSources sources_;
  std::unique_ptr<KernelBatches> by_kernel_;
};

}  // namespace priornet
