#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

namespace priornet {

/// He's start: normal with standard deviation gain / sqrt(fan in), where the gain keeps the size of what a leaky
/// rectifier of this slope passes on: sqrt(2 / (1 + slope^2)); slope 1 is for a layer that nothing follows.
/// weight: [out, in] or [out, in, height, width].
void initialise_he(torch::Tensor weight, double slope, at::Generator generator);

}  // namespace priornet
