#pragma once

#include <cuda_runtime.h>
#include <priornet/uncertainty/errors.h>

#include <cstdint>
#include <string>

// The CUDA side of core/rows.h. A .cu file includes this and instantiates launch_rows for its kinds of work.

namespace priornet {

template <class Work>
__global__ void rows_kernel(Work work, int64_t rows) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < rows) work(row);
}

/// Throws Error if the kernel launched last did not start.
inline void check_launch() {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
    throw Error(std::string("CUDA: a kernel did not start: ") + cudaGetErrorString(error));
}

template <class Work>
void launch_rows(const Work& work, int64_t rows, void* stream) {
  if (rows == 0) return;
  constexpr int64_t kThreads = 128;
  const auto blocks = static_cast<unsigned>((rows + kThreads - 1) / kThreads);
  rows_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(work, rows);
  check_launch();
}

}  // namespace priornet
