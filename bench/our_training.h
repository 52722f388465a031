#pragma once

#include "learning/base/gpu_modes.h"
#include "learning/training/training_step.h"

#include "training_case.h"

namespace priornet::bench {

/// Training steps as training.cpp takes them, batches included.
class OurTraining {
 public:
  OurTraining(const TrainingCase& what, const torch::Device& device, bool bfloat16);

  void step();

  /// Parts of a step, by themselves.
  void batch();
  void update() { optimiser_->step(); }

  int64_t parameters() const { return parameters_->values.numel(); }
  double operations_per_image() { return 6.0 * static_cast<double>(multiply_adds(*network_)); }

 private:
  SideStream stream_;
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
