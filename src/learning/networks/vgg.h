#pragma once

#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>

namespace priornet {

/// The paper's networks (table "Architecture Sizes"): blocks of 3x3 convolutions, each block closed by 2x2 max pooling,
/// then dense layers. As in the authors' code, dropout follows every activation but the last of a block; its
/// probabilities are of keeping a value.
struct VGGOptions {
  std::vector<int64_t> input = {1, 28, 28};  ///< channels, height, width
  int64_t classes = 10;
  std::vector<std::vector<int64_t>> blocks = {{64, 64}, {128, 128}};  ///< channels of each convolution
  std::vector<int64_t> dense = {100};                                 ///< units of each dense layer before the logits
  double slope = 0.0;                                                 ///< of the activation below 0: 0 is ReLU
  double keep_convolution = 1.0;                                      ///< in (0, 1]
  double keep_dense = 1.0;                                            ///< in (0, 1]
  bool batch_norm = false;                                            ///< between convolution and activation
  std::optional<double> gain;  ///< of the weights at the start (layers.h); none: He's
};

/// 4 convolutions, 1 dense layer of 100: the paper's network for MNIST.
VGGOptions vgg6();

/// 13 convolutions, 2 dense layers of 2048, leaky ReLU of slope 0.2: the paper's network for SVHN and CIFAR-10.
VGGOptions vgg16();

/// Weights start normal, biases at 0.
NetworkPlan vgg_plan(const VGGOptions& options);

/// The same for the table of networks: `defaults`, and what is given instead.
NetworkPlan vgg_plan(VGGOptions defaults, const ModelOptions& given);

class VGGImpl : public Network {
 public:
  VGGImpl(const VGGOptions& options, const at::Generator& generator) : Network(vgg_plan(options), generator) {}
};
TORCH_MODULE(VGG);

}  // namespace priornet
