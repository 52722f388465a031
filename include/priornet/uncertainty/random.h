#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include <cstdint>
#include <string_view>

// Everything random in a run comes from one seed: each use draws from a stream of its own, named by its purpose, so
// that adding a use or changing the order of two leaves the others as they were.

namespace priornet {

/// A CPU generator; the same seed gives the same draws.
at::Generator make_generator(uint64_t seed);

/// The seed of the stream `purpose` of a run's seed.
uint64_t derive_seed(uint64_t seed, std::string_view purpose);

// Matrices of random numbers, float32 [rows, columns], made on the device that needs them. A value depends only on its
// seed, row and column: the same on a CPU, on a GPU (to rounding), and however the rows are shared out.

struct DrawOptions {
  uint64_t seed = 0;
  int64_t first_row = 0;
  torch::Device device = torch::kCPU;
};

/// Standard normal.
torch::Tensor normal_draws(int64_t rows, int64_t columns, const DrawOptions& options);

/// Uniform in (0, 1]: a draw just below 1 may round up.
torch::Tensor uniform_draws(int64_t rows, int64_t columns, const DrawOptions& options);

}  // namespace priornet
