#pragma once

#include <torch/types.h>

#include <cstdint>

// Matrices of random numbers, float32 [rows, columns], made where they are wanted. A value is a function of its seed,
// row and column alone: the same on a CPU, on a GPU (to rounding), and however the rows are shared out.

namespace priornet {

struct DrawOptions {
  uint64_t seed = 0;
  int64_t first_row = 0;
  torch::Device device = torch::kCPU;
};

/// Standard normal.
torch::Tensor normal_draws(int64_t rows, int64_t columns, const DrawOptions& options);

/// Uniform in (0, 1).
torch::Tensor uniform_draws(int64_t rows, int64_t columns, const DrawOptions& options);

}  // namespace priornet
