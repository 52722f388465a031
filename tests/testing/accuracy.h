#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <random>
#include <string>

#include "exact.h"

// Logits that exercise every regime, and comparison with exact values.

namespace priornet {

enum class Shape { kRandom, kEqual, kDominated };

inline const char* name_of(Shape shape) {
  return shape == Shape::kRandom ? "random" : shape == Shape::kEqual ? "all equal" : "one dominating";
}

/// [rows, classes] in [low, high]: uniform; one value per row; or one class at least 20 above the others.
inline torch::Tensor make_logits(Shape shape, int64_t rows, int64_t classes, torch::Dtype dtype, uint64_t seed,
                                 double low = -20, double high = 40) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  auto logits = torch::empty({rows, classes}, torch::kFloat64);
  auto values = logits.accessor<double, 2>();
  for (int64_t n = 0; n < rows; ++n) {
    const double common = uniform(generator);
    for (int64_t c = 0; c < classes; ++c) {
      values[n][c] = shape == Shape::kEqual ? common : uniform(generator);
      if (shape == Shape::kDominated) values[n][c] = low + (values[n][c] - low) / 2;
    }
    if (shape == Shape::kDominated) values[n][n % classes] = (low + high) / 2 + (common - low) / 2;
  }
  return logits.to(dtype);
}

inline exact::Row exact_row(const torch::Tensor& logits, int64_t n) {
  exact::Row row;
  const auto values = logits[n].to(torch::kFloat64);
  for (int64_t c = 0; c < values.size(0); ++c) row.emplace_back(values[c].item<double>());
  return row;
}

/// The worst error seen, as a share of what is allowed: at most 1 is a pass.
struct WorstError {
  double relative_bound;
  double absolute_bound;
  double share = 0;
  double relative = 0;  ///< of the worst value that the relative bound applies to
  std::string where = "nowhere";

  void add(double value, const exact::Real& exact_value, const std::string& place) {
    const double error = static_cast<double>(abs(exact::Real(value) - exact_value));
    const double magnitude = std::abs(static_cast<double>(exact_value));
    const double allowed = std::max(relative_bound * magnitude, absolute_bound);
    if (relative_bound * magnitude > absolute_bound) relative = std::max(relative, error / magnitude);
    const double found = std::isfinite(value) ? error / allowed : INFINITY;
    if (found <= share) return;
    share = found;
    where = place + ": " + std::to_string(value) + ", exactly " + exact_value.str(20);
  }
};

inline testing::AssertionResult within(const WorstError& worst) {
  if (worst.share <= 1) return testing::AssertionSuccess();
  return testing::AssertionFailure() << worst.share << " times the allowed error at " << worst.where;
}

}  // namespace priornet
