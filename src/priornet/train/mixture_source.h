#pragma once

#include <priornet/train/outside.h>

namespace priornet {

/// A quarter of each batch from a factor analysis of the training images (or Gaussian noise where they have too many
/// pixels for one), a half random shapes in front of their backgrounds, a quarter their tiles in another order:
/// what a network learns to be outside should be of many kinds. ConfigError where the training set holds no images.
std::unique_ptr<OutsideSource> outside_mixture(const OutsideOptions& options, const OutsideContext& context);

}  // namespace priornet
