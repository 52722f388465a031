#pragma once

#include <gtest/gtest.h>
#include <priornet/learning/dataset.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

// For tests with the published files: they lie in the folder that PRIORNET_TEST_DATA names.

/// The path `where` in that folder; skips the test if it does not exist.
#define REAL_DATA(variable, where)                                                      \
  const char* variable##_root = std::getenv("PRIORNET_TEST_DATA");                      \
  if (variable##_root == nullptr) GTEST_SKIP() << "PRIORNET_TEST_DATA names no folder"; \
  const auto variable = std::filesystem::path(variable##_root) / (where);               \
  if (!std::filesystem::exists(variable)) GTEST_SKIP() << variable << " is not there"

namespace priornet {

inline std::vector<std::string> numbered_classes(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

/// Checks means and standard deviations of the channels, for images in [0, 1], to `tolerance`: published values are
/// rounded to four digits, and some come from slightly different formulas.
inline void expect_moments(const Dataset& set, const std::vector<double>& means, const std::vector<double>& deviations,
                           double tolerance) {
  ASSERT_EQ(set.inputs.size(1), static_cast<int64_t>(means.size()));
  for (size_t channel = 0; channel < means.size(); ++channel) {
    // From the counts of the 256 values: exact, and without a copy of the images in floating point.
    const auto counts =
        torch::bincount(set.inputs.select(1, static_cast<int64_t>(channel)).flatten(), {}, 256).to(torch::kFloat64);
    const auto values = torch::arange(256, torch::kFloat64) / 255;
    const double mean = (counts * values).sum().item<double>() / counts.sum().item<double>();
    const double square = (counts * values.square()).sum().item<double>() / counts.sum().item<double>();
    EXPECT_NEAR(mean, means[channel], tolerance) << "mean of channel " << channel;
    EXPECT_NEAR(std::sqrt(square - mean * mean), deviations[channel], tolerance) << "deviation of channel " << channel;
  }
}

inline void expect_class_counts(const Dataset& set, const std::vector<int64_t>& counts) {
  EXPECT_TRUE(class_counts(set).equal(torch::tensor(counts, torch::kInt64))) << class_counts(set);
}

}  // namespace priornet
