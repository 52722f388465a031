#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace priornet {

struct MLPOptions {
  int64_t inputs = 2;                ///< features of a point, >= 1
  std::vector<int64_t> hidden = {};  ///< units of each hidden layer, >= 1 each; none gives a linear model
  int64_t classes = 2;               ///< logits, >= 2
  double input_scale = 1.0;          ///< every feature is multiplied by it: brings raw inputs near unit size
};

/// A perceptron with ReLU between its layers: points [N, inputs] to logits [N, classes].
/// Weights and biases start uniform on +-1 / sqrt(fan in), drawn from the generator alone.
class MLPImpl : public torch::nn::Module {
 public:
  MLPImpl(const MLPOptions& options, const at::Generator& generator);

  torch::Tensor forward(const torch::Tensor& points);

  const MLPOptions& options() const { return options_; }

 private:
  MLPOptions options_;
  std::vector<torch::nn::Linear> layers_;
};
TORCH_MODULE(MLP);

}  // namespace priornet
