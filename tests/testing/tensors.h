#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <string>
#include <vector>

// Small float64 tensors, and a comparison that names the worst element.

namespace priornet {

inline torch::Tensor vector(const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64); }

inline torch::Tensor rows(const std::vector<std::vector<double>>& values) {
  std::vector<torch::Tensor> tensors;
  for (const auto& row : values) tensors.push_back(vector(row));
  return torch::stack(tensors);
}

inline testing::AssertionResult near(const torch::Tensor& found, const torch::Tensor& wanted,
                                     double tolerance = 1e-12) {
  if (found.sizes() != wanted.sizes())
    return testing::AssertionFailure() << "shapes differ: " << found.sizes() << " and " << wanted.sizes();
  if (found.numel() == 0) return testing::AssertionSuccess();
  const auto a = found.detach().to(torch::kFloat64).flatten();
  const auto b = wanted.detach().to(torch::kFloat64).flatten();
  const auto error = ((a - b).abs() / b.abs().clamp_min(1)).nan_to_num(INFINITY);
  const int64_t worst = error.argmax().item<int64_t>();
  if (error[worst].item<double>() <= tolerance) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "element " << worst << " is " << a[worst].item<double>() << ", wanted "
                                     << b[worst].item<double>() << " within " << tolerance;
}

}  // namespace priornet
