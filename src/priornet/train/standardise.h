#pragma once

#include <torch/types.h>

namespace priornet {

/// How many deviations from its mean a feature counts for: farther out a network was taught nothing, and one with ReLUs
/// grows ever surer of itself there.
constexpr double kFarthestDeviations = 100.0;

/// (rows - mean) / deviation, no farther out than kFarthestDeviations; NaN stays. Rows [N, D], mean and deviation [D].
torch::Tensor standardised_rows(const torch::Tensor& rows, const torch::Tensor& mean, const torch::Tensor& deviation);

}  // namespace priornet
