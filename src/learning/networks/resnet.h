#pragma once

#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>

namespace priornet {

// ResNets (He et al., 2016). Images of up to 64 pixels keep their detail: the first convolution is 3x3 with stride 1
// and nothing is pooled before the blocks. Larger ones begin as ImageNet's do: a convolution of 7x7 and a max pool of
// 3x3, both with stride 2.
//
// Tensors are those of torchvision's ResNets, one to one, under other names:
//   conv1, bn1                       conv, conv_norm
//   layerG.I.conv1, .bn1 (2, 3)      blockG_(I+1).first, .first_norm (second, third)
//   layerG.I.downsample.0, .1        blockG_(I+1).shortcut, .shortcut_norm
//   fc                               logits
struct ResNetOptions {
  std::vector<int64_t> channels = {64, 128, 256, 512};  ///< of each group; every group but the first halves the image
  std::vector<int64_t> blocks = {2, 2, 2, 2};           ///< of each group; groups beyond have as many as the last
  bool bottleneck = false;  ///< a block is 1x1, 3x3 and 1x1 convolutions and gives four times its channels
  double keep_dense = 1.0;  ///< of the pooled features before the logits, in (0, 1]
};

ResNetOptions resnet18();
ResNetOptions resnet34();
ResNetOptions resnet50();

/// For the table of networks: `defaults`, and what is given instead. Weights start as He has them.
NetworkPlan resnet_plan(ResNetOptions defaults, const ModelOptions& given);

}  // namespace priornet
