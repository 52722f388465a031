#pragma once

#include <ATen/core/Generator.h>
#include <priornet/learning/network.h>
#include <torch/nn/pimpl.h>

namespace priornet {

/// ResNet-18 (He et al., 2016) for small images: the first convolution is 3x3 with stride 1 and nothing is pooled
/// before the blocks, so that 32x32 images keep their detail.
struct ResNetOptions {
  std::vector<int64_t> input = {3, 32, 32};  ///< channels, height, width
  int64_t classes = 10;
  std::vector<int64_t> channels = {64, 128, 256,
                                   512};  ///< of each group of blocks; every group but the first halves the image
  int64_t blocks = 2;                     ///< a group, of two convolutions each
  double keep_dense = 1.0;                ///< of the pooled features before the logits, in (0, 1]
};

/// Weights start as He has them, drawn from the generator alone.
class ResNetImpl : public Network {
 public:
  ResNetImpl(const ResNetOptions& options, const at::Generator& generator);
};
TORCH_MODULE(ResNet);

}  // namespace priornet
