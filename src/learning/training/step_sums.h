#pragma once

#include <cmath>
#include <cstdint>

#include "uncertainty/core/device_code.h"

namespace priornet {

/// What a step adds up, in this order, float64: to be divided by kCount for means. From the first step on whose loss or
/// gradient is not finite, sums are not finite and no step counts.
enum StepSum { kLoss, kInside, kOutside, kCrossEntropy, kGradientNorm, kCount, kStepSums };

/// What core/rows.h runs once per step.
struct StepSumsWork {
  const float* losses[4];  ///< kLoss, ..., kCrossEntropy
  const double* gradient_norm;
  double* sums;  ///< [kStepSums]

  PRIORNET_DEVICE void operator()(int64_t) const {
    for (int i = 0; i < 4; ++i) sums[i] += static_cast<double>(*losses[i]);
    sums[kGradientNorm] += *gradient_norm;
    if (std::isfinite(sums[kLoss] + sums[kGradientNorm])) sums[kCount] += 1.0;
  }
};

}  // namespace priornet
