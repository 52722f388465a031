#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "training_case.h"

namespace priornet::bench {

/// Whole training steps on a GPU: batch with augmentation, forward, loss, backward, clipping, update.
struct TrainingTimes {
  TrainingCase what;
  double seconds = 0;       ///< per step, the median of several rounds
  double host_seconds = 0;  ///< per step, until the host is free again
  double plain_seconds = 0;
  double operations = 0;  ///< per step, of the convolutions and dense layers alone

  double images_per_second() const { return static_cast<double>(what.images()) / seconds; }
  double plain_images_per_second() const { return static_cast<double>(what.images()) / plain_seconds; }
  double operations_per_second() const { return operations / seconds; }
};

/// A part of a step by itself.
struct PartTimes {
  std::string part;
  double seconds = 0;
  double bytes = 0;  ///< that have to be read and written
};

/// The same step without one of the parts that our_training.h names.
struct WayTimes {
  TrainingCase what;
  std::string without;
  double seconds = 0;  ///< per step, with it; the median of rounds that alternate with those without it
  double without_seconds = 0;

  double gain() const { return without_seconds / seconds - 1; }
};

using WayReport = std::function<void(const WayTimes& line)>;
using TrainingReport = std::function<void(const TrainingTimes& line)>;
using PartReport = std::function<void(const PartTimes& line)>;

/// What is trained, in the order of its lines; `networks`: of these alone, all if it is empty.
std::vector<TrainingCase> training_cases(const std::vector<std::string>& networks);

/// In bfloat16; `seconds` is spent on each line. `networks` as above.
void measure_training(const torch::Device& device, double seconds, const std::vector<std::string>& networks,
                      const TrainingReport& report);
void measure_training_ways(const torch::Device& device, double seconds, const WayReport& report);
void measure_training_parts(const torch::Device& device, double seconds, const PartReport& report);

/// A few steps of the network's first line of measure_training() as LibTorch's profiler records them, for
/// chrome://tracing and similar viewers. Error if this LibTorch has no such profiler.
void trace_training(const torch::Device& device, const std::string& network, const std::filesystem::path& file);

}  // namespace priornet::bench
