#include "plain_networks.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

#include "learning/networks/architectures.h"

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

nn::Sequential shortcut_of(int64_t from, int64_t to, int64_t stride) {
  return nn::Sequential(unbiased(from, to, 1, stride), nn::BatchNorm2d(to));
}

struct PlainBlockImpl : nn::Module {
  PlainBlockImpl(const nn::Sequential& inner, const nn::Sequential& beside)
      : body(register_module("body", inner)), shortcut(beside) {
    if (shortcut) register_module("shortcut", shortcut);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::relu(body->forward(x) + (shortcut ? shortcut->forward(x) : x));
  }

  nn::Sequential body;
  nn::Sequential shortcut;
};
TORCH_MODULE(PlainBlock);

PlainBlock basic_block(int64_t from, int64_t to, int64_t stride) {
  return PlainBlock(nn::Sequential(unbiased(from, to, 3, stride), nn::BatchNorm2d(to), nn::ReLU(),
                                   unbiased(to, to, 3, 1), nn::BatchNorm2d(to)),
                    from == to && stride == 1 ? nn::Sequential(nullptr) : shortcut_of(from, to, stride));
}

PlainBlock bottleneck(int64_t from, int64_t inner, int64_t stride) {
  const auto to = 4 * inner;
  return PlainBlock(
      nn::Sequential(unbiased(from, inner, 1, 1), nn::BatchNorm2d(inner), nn::ReLU(), unbiased(inner, inner, 3, stride),
                     nn::BatchNorm2d(inner), nn::ReLU(), unbiased(inner, to, 1, 1), nn::BatchNorm2d(to)),
      from == to && stride == 1 ? nn::Sequential(nullptr) : shortcut_of(from, to, stride));
}

struct PlainWideBlockImpl : nn::Module {
  PlainWideBlockImpl(int64_t from, int64_t to, int64_t stride)
      : norm(register_module("norm", nn::BatchNorm2d(from))),
        body(register_module("body", nn::Sequential(unbiased(from, to, 3, stride), nn::BatchNorm2d(to), nn::ReLU(),
                                                    unbiased(to, to, 3, 1)))) {
    if (from != to || stride != 1) shortcut = register_module("shortcut", unbiased(from, to, 1, stride));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto active = torch::relu(norm->forward(x));
    return body->forward(active) + (shortcut ? shortcut->forward(active) : x);
  }

  nn::BatchNorm2d norm;
  nn::Sequential body;
  nn::Conv2d shortcut = nullptr;
};
TORCH_MODULE(PlainWideBlock);

void add_pooled_logits(nn::Sequential& network, int64_t channels, int64_t classes) {
  network->push_back(nn::AdaptiveAvgPool2d(1));
  network->push_back(nn::Flatten());
  network->push_back(nn::Linear(channels, classes));
}

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

nn::Sequential plain_resnet18(int64_t classes) {
  nn::Sequential network(unbiased(3, 64, 3, 1), nn::BatchNorm2d(64), nn::ReLU());
  int64_t channels = 64;
  for (const int64_t next : {64, 128, 256, 512}) {
    network->push_back(basic_block(channels, next, next == 64 ? 1 : 2));
    network->push_back(basic_block(next, next, 1));
    channels = next;
  }
  add_pooled_logits(network, channels, classes);
  return network;
}

nn::Sequential plain_resnet50(int64_t classes) {
  nn::Sequential network(unbiased(3, 64, 7, 2), nn::BatchNorm2d(64), nn::ReLU(),
                         nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  int64_t channels = 64;
  for (const auto& [inner, blocks] : {std::pair<int64_t, int>{64, 3}, {128, 4}, {256, 6}, {512, 3}})
    for (int i = 0; i < blocks; ++i) {
      network->push_back(bottleneck(channels, inner, inner > 64 && i == 0 ? 2 : 1));
      channels = 4 * inner;
    }
  add_pooled_logits(network, channels, classes);
  return network;
}

nn::Sequential plain_wide_resnet(int64_t classes) {
  nn::Sequential network(unbiased(3, 16, 3, 1));
  int64_t channels = 16;
  for (const int64_t next : {160, 320, 640})
    for (int i = 0; i < 4; ++i) {
      network->push_back(PlainWideBlock(channels, next, next > 160 && i == 0 ? 2 : 1));
      channels = next;
    }
  network->push_back(nn::BatchNorm2d(channels));
  network->push_back(nn::ReLU());
  add_pooled_logits(network, channels, classes);
  return network;
}

}  // namespace

nn::Sequential plain_network(const ModelOptions& model) {
  if (model.name == "vgg6") return plain_vgg(vgg6());
  if (model.name == "vgg16") return plain_vgg(vgg16());
  if (model.name == "resnet18") return plain_resnet18(model.classes);
  if (model.name == "resnet50") return plain_resnet50(model.classes);
  return plain_wide_resnet(model.classes);
}

}  // namespace priornet::bench
