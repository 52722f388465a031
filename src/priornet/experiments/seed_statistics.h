#pragma once

#include <priornet/eval/detection.h>

#include <cstdint>
#include <vector>

namespace priornet {

/// The quantile 0.975 of Student's t distribution, to 1e-4 of its value. ArgumentError unless degrees >= 1.
double student_t(int64_t degrees);

/// The mean over seeds with its 95 % interval by Student's t, which may reach beyond 0 or 1; of a single seed its own
/// estimate. ArgumentError if there is none.
Estimate over_seeds(const std::vector<Estimate>& seeds);

}  // namespace priornet
