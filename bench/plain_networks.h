#pragma once

#include <torch/nn/modules/container/sequential.h>

#include "learning/networks/architectures.h"

namespace priornet::bench {

/// The same networks as a LibTorch tutorial would have them.
torch::nn::Sequential plain_vgg(const VGGOptions& options);

/// ResNet-18 for 32x32 images.
torch::nn::Sequential plain_resnet(int64_t classes);

}  // namespace priornet::bench
