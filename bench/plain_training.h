#pragma once

#include <torch/nn/modules/container/sequential.h>
#include <torch/optim/adam.h>

#include <memory>

#include "training_case.h"

namespace priornet::bench {

/// The same steps as a LibTorch tutorial would write them, including batches. LibTorch has no NAdam in C++: Adam costs
/// the same. Nor does it draw from a factor analysis: another set is used instead.
class PlainTraining {
 public:
  PlainTraining(const TrainingCase& what, const torch::Device& device, bool bfloat16);

  void step();

 private:
  torch::Tensor images_from(const torch::Tensor& set, const torch::Tensor& rows) const;

  TrainingCase what_;
  bool bfloat16_;
  torch::Tensor inside_, labels_, outside_;
  torch::nn::Sequential network_ = nullptr;
  std::unique_ptr<torch::optim::Adam> optimiser_;
  torch::Tensor losses_;  ///< their sum
};

}  // namespace priornet::bench
