#pragma once

#include <torch/types.h>

namespace priornet::bench {

/// What a machine does at best, measured: all else is held to it.
struct Ceilings {
  double matmul_operations_per_second = 0;  ///< of a bfloat16 product of 8192 x 8192 matrices
  double copy_bytes_per_second = 0;         ///< read and written, of a copy that no cache holds
};
Ceilings measure_ceilings(const torch::Device& device, double seconds);

}  // namespace priornet::bench
