#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/networks.h>
#include "learning/training/training_batches.h"

namespace priornet::bench {

/// What is trained: a network as the paper trains it, on made-up images.
struct TrainingCase {
  std::string network;  ///< vgg6 (28x28, grey), vgg16 or resnet18 (32x32, RGB)
  std::string method = "dpn";
  int64_t inside = 128;  ///< images per step in distribution
  int64_t outside = 128;
  bool factor_analysis = false;  ///< as source of the outside; else another set
  bool channels_last = true;

  int64_t images() const { return inside + outside; }
};

constexpr int64_t kTrainingClasses = 10;
constexpr double kTrainingRate = 1e-4;
constexpr double kTrainingClip = 10.0;

ModelOptions model_of(const TrainingCase& what);

/// Of CIFAR's images flip, shift and rotation; of MNIST's none.
AugmentationOptions augmentation_of(const TrainingCase& what);

/// 50,000 images of noise.
Dataset made_up_set(const TrainingCase& what, uint64_t seed);

}  // namespace priornet::bench
