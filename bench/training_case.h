#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/networks.h>
#include "learning/training/training_batches.h"

namespace priornet::bench {

/// What is trained, on random images.
struct TrainingCase {
  std::string network;  ///< vgg6 (28x28, grey), resnet50 (224x224, 1000 classes), else 32x32, RGB, 10 classes
  std::string method = "dpn";
  int64_t inside = 128;  ///< images per step in distribution
  int64_t outside = 128;
  bool factor_analysis = false;  ///< for the outside; otherwise another set
  bool channels_last = true;

  int64_t images() const { return inside + outside; }
};

constexpr double kTrainingRate = 1e-4;
constexpr double kTrainingClip = 10.0;

ModelOptions model_of(const TrainingCase& what);

/// For colour images flip and shift, for CIFAR's rotation too; for MNIST's none.
AugmentationOptions augmentation_of(const TrainingCase& what);

/// Images of noise: 50,000, or 4,096 of 224x224 pixels.
Dataset made_up_set(const TrainingCase& what, uint64_t seed);

}  // namespace priornet::bench
