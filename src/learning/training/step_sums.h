#pragma once

#include <cmath>
#include <cstdint>

#include "uncertainty/core/device_code.h"

namespace priornet {

/// The sums over steps, in this order, float64; divide by kCount for means. From the first step on whose loss or
/// gradient is not finite, the sums are not finite and no step counts.
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
