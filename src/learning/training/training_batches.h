#pragma once

#include <priornet/learning/augmentation.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/method.h>
#include <priornet/learning/outliers.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "learning/training/batch_images.h"
#include "learning/training/row_stream.h"

namespace priornet {

/// Goes through a set again and again, each time in another order, which depends only on the seed and the pass.
class BatchOrder {
 public:
  BatchOrder(int64_t size, uint64_t seed, const torch::Device& device = torch::kCPU)
      : size_(size), seed_(seed), device_(device) {}

  /// The rows of places first, ..., first + count - 1, int64 [count] on the device. Place p lies in pass p / size.
  torch::Tensor rows(int64_t first, int64_t count);

  /// The same for kernels that look up a place themselves: a ring for this many places at a time, empty until hold().
  /// For another number of places it is another ring.
  PassRing ring(int64_t count);
  /// Makes the ring hold the passes of these places; the device does it in its turn.
  void hold(int64_t first, int64_t count);

 private:
  const torch::Tensor& pass(int64_t number);

  int64_t size_;
  uint64_t seed_;
  torch::Device device_;
  int64_t held_ = -1;  ///< which pass `order_` is
  torch::Tensor order_;
  torch::Tensor ring_;          ///< [slots, size]
  std::vector<int64_t> slots_;  ///< which pass each slot is, -1 for none
};

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
  bool by_kernel = true;       ///< for images on a GPU; without it by tensor operations, for `priornet bench` alone
  /// Whether the inputs stay on the host; unset: if the device has no room for them (row_stream.h).
  std::optional<bool> streamed = {};
};

struct TrainingBatch {
  torch::Tensor inputs;  ///< [N + M, ...]: in distribution first, then outside
  BatchTargets targets;  ///< the labels of the first N
};

/// What batches are made from, on the device; inputs that do not fit there stay on the host.
struct BatchSources {
  torch::Tensor inputs;  ///< of the training set
  torch::Tensor labels;  ///< int64
  BatchOrder order;
  OutsideSource* outside = nullptr;
  TrainingBatchesOptions options;
  std::shared_ptr<RowStream> stream = {};  ///< of the inputs' rows, step by step, if they stay on the host
};

/// The rows of a batch of `whole` that a process takes.
struct BatchPart {
  int64_t first = 0;
  int64_t count = 0;
};
inline BatchPart part_of(int64_t whole, const BatchShare& share) {
  const auto count = whole / share.processes;
  return {share.rank * count, count};
}

/// Which places of an order the rows of each step have: those of one process, of this many per step.
struct StepRows {
  int64_t whole = 0;
  BatchPart part = {};
  torch::Tensor chosen = {};  ///< int64 on the CPU: the rows that are in order; undefined: all
};

/// The rows of inputs on the host, in the order of a BatchOrder with this seed, step by step.
std::shared_ptr<RowStream> stream_in_order(const torch::Tensor& inputs, uint64_t seed, const torch::Device& device,
                                           const StepRows& rows);

/// Keeps the draws for the two parts of a batch apart.
constexpr const char* kInsideDraws = "inside";
constexpr const char* kOutsideDraws = "outside";

class KernelBatches;

/// The batches of a run as a network takes them: gathered, augmented and brought to [-1, 1] on the device. Batch and
/// share depend only on seed and step, so that a run can go on at any step and be shared by any number of processes; it
/// does not matter where the inputs lie.
class TrainingBatches {
 public:
  /// `train` and `outside`, which may be null, must outlive this object.
  /// ArgumentError unless the batches can be shared out evenly.
  TrainingBatches(const Dataset& train, OutsideSource* outside, const torch::Device& device,
                  const TrainingBatchesOptions& options);
  ~TrainingBatches();

  /// The host's work for a step; then make(), or a replay of it, fills batch().
  void prepare(int64_t step);

  /// The device's work: always the same kernels, so that it can be part of a CUDA graph.
  void make();

  /// On a GPU always in the same memory.
  const TrainingBatch& batch() const;

  /// The same by tensor operations alone, inputs float32.
  TrainingBatch at(int64_t step);

  /// The rows of the training set in the in-distribution part of a step, int64 on the device.
  torch::Tensor rows(int64_t step);

  int64_t steps_per_epoch() const { return sources_.labels.size(0) / sources_.options.batch; }

 private:
  torch::Tensor inputs_of(const torch::Tensor& rows, int64_t step);
  torch::Tensor prepared(const torch::Tensor& images, const char* draws, int64_t step, int64_t whole) const;

  BatchSources sources_;
  // For images on a GPU, else null: there one kernel saves several launches and passes over memory, and a graph that
  // includes the batch leaves the host nothing to launch. kernel_batches_test.cpp checks that both give the same
  // batches.
  std::unique_ptr<KernelBatches> by_kernel_;
  TrainingBatch batch_;  ///< of the last step prepared, without a kernel
};

}  // namespace priornet
