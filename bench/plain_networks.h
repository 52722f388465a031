#pragma once

#include <priornet/learning/networks.h>
#include <torch/nn/modules/container/sequential.h>

namespace priornet::bench {

/// Networks of networks.h as a LibTorch tutorial would write them: vgg6, vgg16, resnet18 for small images, resnet50 for
/// large ones, wide-resnet-28-10.
torch::nn::Sequential plain_network(const ModelOptions& model);

}  // namespace priornet::bench
