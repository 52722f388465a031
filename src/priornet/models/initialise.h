#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

namespace priornet {

/// Normal with standard deviation sqrt(gain / fan in). weight: [out, in] or [out, in, height, width].
void initialise_normal(torch::Tensor weight, double gain, at::Generator generator);

/// The gain that keeps the size of what a leaky rectifier of this slope passes on (He et al., 2015): 2 / (1 + slope^2).
constexpr double he_gain(double slope) { return 2.0 / (1.0 + slope * slope); }

/// The same for a layer that nothing follows.
constexpr double kLastGain = 1.0;

}  // namespace priornet
