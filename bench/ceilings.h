#pragma once

#include <torch/types.h>

namespace priornet::bench {

/// The measured peak of a machine; all other results are compared with it.
struct Ceilings {
  double matmul_operations_per_second = 0;  ///< of a bfloat16 product of 8192 x 8192 matrices
  double copy_bytes_per_second = 0;         ///< read and written, by a copy too large for any cache
};
Ceilings measure_ceilings(const torch::Device& device, double seconds);

}  // namespace priornet::bench
