#pragma once

#include <bench/ceilings.h>
#include <bench/gpu_training.h>
#include <bench/reading.h>
#include <bench/scoring_speed.h>
#include <bench/serving.h>
#include <bench/timing.h>

#include <nlohmann/json.hpp>
#include <string>

namespace priornet::bench {

/// Prints what `priornet bench` measures as it comes, or collects it for the end.
class Output {
 public:
  explicit Output(bool json);

  /// A line for people.
  void say(const std::string& line) const;

  void add(const Comparison& line);
  void add(const ReadingTimes& line);
  void add(const Ceilings& found);
  void add(const TrainingTimes& line);
  void add(const WayTimes& line);
  void add(const PartTimes& line);
  void add(const ScoringCost& line);
  void add(const PredictionSpeed& line);
  void add(const ServingTimes& line);

  void finish() const;

 private:
  bool json_;
  Ceilings ceilings_;
  double reference_ = 0;  ///< ScoringCost::images_per_second of the last reference
  nlohmann::json all_;
};

}  // namespace priornet::bench
