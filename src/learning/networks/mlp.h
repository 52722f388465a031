#pragma once

#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>

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
/// Weights and biases start uniform on +-1 / sqrt(fan in).
NetworkPlan mlp_plan(const MLPOptions& options);

/// The same for the table of networks: two hidden layers of 100 unless others are given.
NetworkPlan mlp_plan(const ModelOptions& given);

class MLPImpl : public Network {
 public:
  MLPImpl(const MLPOptions& options, const at::Generator& generator) : Network(mlp_plan(options), generator) {}
};
TORCH_MODULE(MLP);

}  // namespace priornet
