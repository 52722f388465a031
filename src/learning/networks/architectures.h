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

/// The paper's networks (table "Architecture Sizes"): blocks of 3x3 convolutions, each block closed by 2x2 max pooling,
/// then dense layers. As in the authors' code, dropout follows every activation but the last of a block; its
/// probabilities are those of keeping a value.
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

/// The same for the table of networks: `defaults`, changed by the options that are given.
NetworkPlan vgg_plan(VGGOptions defaults, const ModelOptions& given);

class VGGImpl : public Network {
 public:
  VGGImpl(const VGGOptions& options, const at::Generator& generator) : Network(vgg_plan(options), generator) {}
};
TORCH_MODULE(VGG);

// ResNets (He et al., 2016). Images of up to 64 pixels keep their detail: the first convolution is 3x3 with stride 1
// and nothing is pooled before the blocks. Larger ones begin as ImageNet's do: a convolution of 7x7 and a max pool of
// 3x3, both with stride 2.
//
// Tensors match those of torchvision's ResNets one to one, under other names:
//   conv1, bn1                       conv, conv_norm
//   layerG.I.conv1, .bn1 (2, 3)      blockG_(I+1).first, .first_norm (second, third)
//   layerG.I.downsample.0, .1        blockG_(I+1).shortcut, .shortcut_norm
//   fc                               logits
struct ResNetOptions {
  std::vector<int64_t> channels = {64, 128, 256, 512};  ///< of each group; every group but the first halves the image
  std::vector<int64_t> blocks = {2, 2, 2, 2};           ///< of each group; further groups have as many as the last
  bool bottleneck = false;  ///< a block is 1x1, 3x3 and 1x1 convolutions and gives four times its channels
  double keep_dense = 1.0;  ///< of the pooled features before the logits, in (0, 1]
};

ResNetOptions resnet18();
ResNetOptions resnet34();
ResNetOptions resnet50();

/// For the table of networks: `defaults`, changed by the options that are given. Weights start as in He et al.
NetworkPlan resnet_plan(ResNetOptions defaults, const ModelOptions& given);

/// A wide residual network (Zagoruyko and Komodakis, 2016) for small images: blocks of two 3x3 convolutions, each after
/// batch norm and ReLU, with dropout between them if it is asked for.
struct WideResNetOptions {
  std::vector<int64_t> channels = {160, 320, 640};  ///< of each group; every group but the first halves the image
  int64_t blocks = 4;                               ///< of each group: 6 blocks + 4 is the depth
  double keep_convolution = 1.0;                    ///< between the convolutions of a block, in (0, 1]
  double keep_dense = 1.0;                          ///< of the pooled features before the logits, in (0, 1]
};

/// For the table of networks: `defaults`, changed by the options that are given. Weights start as in He et al.
NetworkPlan wide_resnet_plan(WideResNetOptions defaults, const ModelOptions& given);

}  // namespace priornet
