#pragma once

#include <torch/types.h>

#include <functional>
#include <string>

namespace priornet::bench {

/// What a way of asking for uncertainty costs: from images in memory to all measures.
struct ScoringCost {
  std::string how;
  int64_t passes = 0;  ///< through a network, for each image
  double images_per_second = 0;
};

using ScoringReport = std::function<void(const ScoringCost& line)>;

/// One pass of a Prior Network, also with detectors, 20 dropout samples of a DNN, an ensemble of five Prior Networks:
/// on a GPU of VGG-16 in bfloat16 on 32x32 RGB images, on a CPU of VGG-6 on 28x28 grey ones. `seconds` is spent on
/// each, at least one pass over the images.
void measure_scoring(const torch::Device& device, double seconds, const ScoringReport& report);

}  // namespace priornet::bench
