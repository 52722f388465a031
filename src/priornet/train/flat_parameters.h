#pragma once

#include <torch/types.h>

#include <vector>

namespace priornet {

/// The parameters of a network in one piece of memory and their gradients in another, so that clipping, an update or an
/// exchange between processes is one pass. Every parameter becomes a view of `values` and its grad() a view of
/// `gradients`, to which backward() adds: clear it before each step.
/// The parameters share dtype and device, and the network stays on that device.
struct FlatParameters {
  explicit FlatParameters(std::vector<torch::Tensor> parameters);

  /// Sets every gradient to 0.
  void clear_gradients();

  torch::Tensor values;              ///< [size], the parameters with gaps of zeros that keep each aligned
  torch::Tensor gradients;           ///< [size], 0 in the gaps
  std::vector<torch::Tensor> views;  ///< the parameters
  std::vector<int64_t> offsets;      ///< where each begins
};

}  // namespace priornet
