#pragma once

#include <priornet/train/outside.h>

namespace priornet {

/// What is outside for rows of numbers, float32 [count, D], around those of the training set and beyond:
/// factor-analysis has their covariance, inflated by a draw from [scale_low, scale_high], and every other row up to 100
/// times as far out; gaussian-noise is normal
/// around their mean, `sigma` times as wide as they are, feature by feature; uniform-noise fills a box three times as
/// wide as their range. ConfigError for another source.
std::unique_ptr<OutsideSource> outside_rows(const OutsideOptions& options, const OutsideContext& context);

}  // namespace priornet
