#include "plain_networks.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

namespace priornet::bench {
namespace {

namespace nn = torch::nn;

void add_activation(nn::Sequential& network, double slope) {
  if (slope == 0.0)
    network->push_back(nn::ReLU());
  else
    network->push_back(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(slope)));
}

nn::Conv2d unbiased(int64_t from, int64_t to, int64_t side, int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, side).padding(side / 2).stride(stride).bias(false));
}

struct PlainBlockImpl : nn::Module {
  PlainBlockImpl(int64_t from, int64_t to, int64_t stride)
      : body(register_module("body", nn::Sequential(unbiased(from, to, 3, stride), nn::BatchNorm2d(to), nn::ReLU(),
                                                    unbiased(to, to, 3, 1), nn::BatchNorm2d(to)))) {
    if (from != to || stride != 1)
      shortcut = register_module("shortcut", nn::Sequential(unbiased(from, to, 1, stride), nn::BatchNorm2d(to)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::relu(body->forward(x) + (shortcut ? shortcut->forward(x) : x));
  }

  nn::Sequential body;
  nn::Sequential shortcut = nullptr;
};
TORCH_MODULE(PlainBlock);

}  // namespace

nn::Sequential plain_vgg(const VGGOptions& options) {
  nn::Sequential network;
  auto channels = options.input[0];
  auto pixels = options.input[1] * options.input[2];
  for (const auto& block : options.blocks) {
    for (const auto next : block) {
      network->push_back(nn::Conv2d(nn::Conv2dOptions(channels, next, 3).padding(1)));
      add_activation(network, options.slope);
      channels = next;
    }
    network->push_back(nn::MaxPool2d(2));
    pixels /= 4;
  }
  network->push_back(nn::Flatten());
  auto inputs = channels * pixels;
  for (const auto units : options.dense) {
    network->push_back(nn::Linear(inputs, units));
    add_activation(network, options.slope);
    inputs = units;
  }
  network->push_back(nn::Linear(inputs, options.classes));
  return network;
}

nn::Sequential plain_resnet(int64_t classes) {
  nn::Sequential network(unbiased(3, 64, 3, 1), nn::BatchNorm2d(64), nn::ReLU());
  int64_t channels = 64;
  for (const int64_t next : {64, 128, 256, 512}) {
    network->push_back(PlainBlock(channels, next, next == 64 ? 1 : 2));
    network->push_back(PlainBlock(next, next, 1));
    channels = next;
  }
  network->push_back(nn::AdaptiveAvgPool2d(1));
  network->push_back(nn::Flatten());
  network->push_back(nn::Linear(channels, classes));
  return network;
}

}  // namespace priornet::bench
