#pragma once

#include <priornet/uncertainty/detection.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace priornet {

/// Scores to rank, with their storage.
struct ScoreSamples {
  std::vector<double> positive;
  std::vector<double> negative;

  ScoreSets sets() const { return {positive, negative}; }
};

struct NormalOptions {
  int positives = 100;
  int negatives = 100;
  double shift = 1.5;  ///< mean of the positives; the negatives have mean 0, both variance 1
  double grid = 0;     ///< scores are rounded to multiples of it, which makes ties
};

inline ScoreSamples normal_samples(const NormalOptions& options, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const auto draw = [&](double mean) {
    const double score = mean + normal(random);
    return options.grid > 0 ? options.grid * std::round(score / options.grid) : score;
  };
  ScoreSamples samples;
  for (int i = 0; i < options.positives; ++i) samples.positive.push_back(draw(options.shift));
  for (int i = 0; i < options.negatives; ++i) samples.negative.push_back(draw(0));
  return samples;
}

}  // namespace priornet
