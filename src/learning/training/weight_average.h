#pragma once

#include <priornet/learning/classifier.h>
#include <priornet/learning/optimiser.h>
#include <priornet/learning/tensor_file.h>

#include <vector>

namespace priornet {

/// The mean of a network's weights over the last steps of a run, and of the statistics of its batch norm: a network of
/// its own, usually better than the one after the last step. Step t moves the mean by max(1 - decay, 1 / t) of the way
/// to the weights: first it is the plain mean of all steps, then the exponential one. On a GPU it does not need the
/// host, so that a step can be recorded.
class WeightAverage {
 public:
  /// Both arguments must outlive this object. ArgumentError unless 0 < decay < 1.
  WeightAverage(const Classifier& network, FlatParameters& parameters, double decay);

  /// Call it after each step of training.
  void update();

  /// Swaps the weights of the network and the mean; a second call swaps them back.
  void exchange();

  /// What a checkpoint keeps beside the weights of the network; the tensors share memory with this object.
  std::vector<NamedTensor> state() const;

 private:
  FlatParameters& parameters_;
  std::vector<torch::Tensor> buffers_;  ///< of batch norm, the network's
  torch::Tensor mean_;                  ///< of parameters_.values
  std::vector<torch::Tensor> buffer_means_;
  double decay_;
  torch::Tensor steps_;  ///< float64 [1]
};

/// While this object lives, the network has its averaged weights. Does nothing if the average is null.
class AveragedWeights {
 public:
  explicit AveragedWeights(WeightAverage* average) : average_(average) {
    if (average_ != nullptr) average_->exchange();
  }
  ~AveragedWeights() {
    if (average_ != nullptr) average_->exchange();
  }
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  WeightAverage* average_;
};

}  // namespace priornet
