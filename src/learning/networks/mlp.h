#pragma once

#include <ATen/core/Generator.h>
#include <priornet/learning/network.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace priornet {

struct MLPOptions {
  int64_t inputs = 2;                ///< features of a point, >= 1
  std::vector<int64_t> hidden = {};  ///< units of each hidden layer, >= 1 each; none gives a linear model
  int64_t classes = 2;               ///< logits, >= 2
  double input_scale = 1.0;          ///< every feature is multiplied by it: brings raw inputs near unit size
  double slope = 0.0;                ///< of the activation below 0: 0 is ReLU
  double keep = 1.0;                 ///< probability of keeping a value after each hidden layer, in (0, 1]
};

/// A perceptron: points [N, inputs] to logits [N, classes].
/// Weights and biases start uniform on +-1 / sqrt(fan in), drawn from the generator alone.
class MLPImpl : public Network {
 public:
  MLPImpl(const MLPOptions& options, const at::Generator& generator);
};
TORCH_MODULE(MLP);

}  // namespace priornet
