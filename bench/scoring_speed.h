#pragma once

#include <priornet/learning/trained_run.h>
#include <torch/types.h>

#include <filesystem>
#include <functional>
#include <string>

namespace priornet::bench {

/// What a way to get uncertainty costs: from images in memory to all measures.
struct ScoringCost {
  std::string how;
  int64_t passes = 0;  ///< through a network, for each image
  double images_per_second = 0;
  bool is_reference = false;  ///< the costs of the ways after it, up to the next such one, are multiples of its cost
};

using ScoringReport = std::function<void(const ScoringCost& line)>;

/// One pass of a Prior Network, also with detectors (on a GPU with each of them), 20 dropout samples of a DNN, and an
/// ensemble of five Prior Networks. On a GPU VGG-16 in bfloat16 on 32x32 RGB images, on a CPU VGG-6 on 28x28 grey ones.
/// `seconds` is spent on each, at least one pass over the images.
void measure_scoring(const torch::Device& device, double seconds, const ScoringReport& report);

/// One pass of a run or model file (of an ensemble: of its first member), and the same with detectors, on random images
/// of the size that it takes; in bfloat16 on a GPU. ArgumentError if it takes no images.
void measure_scoring_of(const OpenOptions& open, const std::filesystem::path& model, double seconds,
                        const ScoringReport& report);

/// What `serve` and `predict` compute, from inputs in memory to the whole answer of a model.
struct PredictionSpeed {
  int64_t batch = 0;
  double inputs_per_second = 0;      ///< of the fastest call: on a busy machine the least disturbed
  double inputs_per_cpu_second = 0;  ///< the same by the processor time of all threads, which other programs disturb
                                     ///< less
};

/// For a model file, at several batch sizes; `seconds` is spent on each.
void measure_prediction(const OpenOptions& open, const std::filesystem::path& model, double seconds,
                        const std::function<void(const PredictionSpeed& line)>& report);

}  // namespace priornet::bench
