#pragma once

#include <bench/ceilings.h>
#include <bench/gpu_training.h>
#include <bench/reading.h>
#include <bench/scoring.h>
#include <bench/serving.h>
#include <bench/timing.h>

#include <nlohmann/json.hpp>
#include <string>

namespace priornet::tool {

/// Prints what `priornet bench` measures as it comes, or keeps it for the end.
class BenchOutput {
 public:
  explicit BenchOutput(bool json);

  /// A line for people.
  void say(const std::string& line) const;

  void add(const bench::Comparison& line);
  void add(const bench::ReadingTimes& line);
  void add(const bench::Ceilings& found);
  void add(const bench::TrainingTimes& line);
  void add(const bench::PartTimes& line);
  void add(const bench::ScoringCost& line);
  void add(const bench::ServingTimes& line);

  void finish() const;

 private:
  bool json_;
  bench::Ceilings ceilings_;
  double first_scoring_ = 0;  ///< images a second, of the way that others are compared with
  nlohmann::json all_;
};

}  // namespace priornet::tool
