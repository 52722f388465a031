#pragma once

#include <priornet/learning/networks.h>

namespace priornet {

/// A wide residual network (Zagoruyko and Komodakis, 2016) for small images: blocks of two 3x3 convolutions, each after
/// batch norm and ReLU, with dropout between them where it is asked for.
struct WideResNetOptions {
  std::vector<int64_t> channels = {160, 320, 640};  ///< of each group; every group but the first halves the image
  int64_t blocks = 4;                               ///< of each group: 6 blocks + 4 is the depth
  double keep_convolution = 1.0;                    ///< between the convolutions of a block, in (0, 1]
  double keep_dense = 1.0;                          ///< of the pooled features before the logits, in (0, 1]
};

/// For the table of networks: `defaults`, and what is given instead. Weights start as He has them.
NetworkPlan wide_resnet_plan(WideResNetOptions defaults, const ModelOptions& given);

}  // namespace priornet
