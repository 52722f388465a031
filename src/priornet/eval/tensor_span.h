#pragma once

#include <torch/types.h>

#include <span>

namespace priornet {

/// The values of a tensor as metrics take them: float64, contiguous, on the CPU. It outlives the span.
inline std::span<const double> span_of(const torch::Tensor& values) {
  return {values.data_ptr<double>(), static_cast<size_t>(values.numel())};
}

}  // namespace priornet
