#pragma once

#include "learning/base/gpu_modes.h"
#include "learning/training/training_step.h"

#include "training_case.h"

namespace priornet::bench {

/// What can be left out of a step on a GPU, to see what it gains for the whole step.
struct TrainingWays {
  bool recording = true;       ///< captured_step(); without it the host launches each kernel
  bool fused = true;           ///< fused_convolution.h; without it the network is made of LibTorch's modules
  bool kernel_batches = true;  ///< kernel_batches.h; without it tensor operations make the batch, before the graph
};

/// Training steps as in training.cpp, including batches.
class OurTraining {
 public:
  OurTraining(const TrainingCase& what, const torch::Device& device, bool bfloat16, const TrainingWays& ways = {});

  void step();

  /// Parts of a step, by themselves.
  void batch();
  void update() { optimiser_->step(); }

  int64_t parameters() const { return parameters_->values.numel(); }
  double operations_per_image() { return 6.0 * static_cast<double>(multiply_adds(*network_)); }

 private:
  CaptureStream stream_;
  Dataset set_;
  std::unique_ptr<OutsideSource> outside_;
  std::unique_ptr<TrainingBatches> batches_;
  std::shared_ptr<Classifier> network_;
  std::unique_ptr<FlatParameters> parameters_;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<TrainingStep> step_;
  int64_t steps_ = 0;
};

}  // namespace priornet::bench
