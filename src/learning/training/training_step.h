#pragma once

#include <priornet/learning/classifier.h>
#include <priornet/learning/method.h>
#include <priornet/learning/optimiser.h>
#include <priornet/learning/training_sets.h>

#include <functional>
#include <memory>

#include "learning/base/gpu_modes.h"
#include "learning/training/step_sums.h"
#include "learning/training/training_batches.h"

namespace priornet {

/// The logits that a training step hands to the loss: a row whose largest logit is above 30 is moved down to 30. For
/// alpha above e^30 a divergence and its gradient grow as alpha does, beyond what float32 carries back through the
/// layers, and a gradient that is cut off element by element may point uphill. Moved, a row keeps its probabilities,
/// its cross-entropy, and a gradient that makes the logits smaller. Precisions above e^30 = 1e13 are not told apart.
torch::Tensor within_reach(const torch::Tensor& logits);

/// Forward, loss, backward and update of one batch. The sums stay on the device: the host does not wait for a step. A
/// subclass may run the work of a step in another way (captured_step() below).
class TrainingStep {
 public:
  struct Options {
    MethodOptions method;
    bool bfloat16 = false;                ///< matrix products in bfloat16, on a GPU
    std::function<void()> exchange = {};  ///< averages the gradients over the processes, if there are several
    std::function<void()> updated = {};   ///< called after each update, if there is one; never waits for the device
    bool freeze = false;                  ///< only the last layers learn; everything else is as in evaluation
    Teacher teacher = {};                 ///< answers every batch, if there is one
    torch::Tensor class_weights = {};     ///< [K] on the device: weights of the rows of each class; or undefined
    double prior = 1.0;                   ///< BatchTargets::prior
  };

  /// The fastest step for the network's device. All arguments must outlive the step.
  static std::unique_ptr<TrainingStep> make(Classifier& network, FlatParameters& parameters, Optimiser& optimiser,
                                            Options options);

  TrainingStep(Classifier& network, FlatParameters& parameters, Optimiser& optimiser, Options options);
  virtual ~TrainingStep() = default;

  /// The batch of a step of a run.
  void run(TrainingBatches& batches, int64_t step);

  const Method& method() const { return *method_; }

  /// float64 [kStepSums], as in step_sums.h, on the device of the network.
  torch::Tensor& sums() { return sums_; }

 private:
  /// The device's work for a step, the same each time.
  virtual void execute(const std::function<void()>& work) { work(); }

  void learn_from(const TrainingBatch& batch);
  torch::Tensor logits_of(const torch::Tensor& inputs);

  Classifier& network_;
  FlatParameters& parameters_;
  Optimiser& optimiser_;
  Options options_;
  std::unique_ptr<Method> method_;
  torch::Tensor sums_;
  std::shared_ptr<SecondStream> aside_;  ///< on a GPU; null if processes exchange gradients as they arrive
};

/// A training step whose work, including the batch, is recorded once as a CUDA graph and then replayed: the GPU no
/// longer waits for the host to launch kernel after kernel. Runs plainly if a network cannot be recorded. Works within
/// a CaptureStream, always with the same batches. Needs a build with CUDA. On an H200 whole steps of VGG-6, VGG-16 and
/// ResNet-18 are 240, 26 and 5 % faster (docs/results.md).
std::unique_ptr<TrainingStep> captured_step(Classifier& network, FlatParameters& parameters, Optimiser& optimiser,
                                            TrainingStep::Options options);

}  // namespace priornet
