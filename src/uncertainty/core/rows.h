#pragma once

#if defined(PRIORNET_CUDA)
#include <c10/cuda/CUDAStream.h>
#endif

#include <algorithm>
#include <cstdint>

#include "uncertainty/core/checks.h"
#include "uncertainty/core/parallel.h"

namespace priornet {

/// Calls body(begin, end) over [0, rows) on all of LibTorch's threads, in pieces of at least ~16k elements: less is not
/// worth a thread.
template <class Body>
void parallel_rows(int64_t rows, int64_t elements_per_row, const Body& body) {
  constexpr int64_t kElements = 16384;
  parallel_for(0, rows, std::max<int64_t>(1, kElements / std::max<int64_t>(1, elements_per_row)), body);
}

#if defined(PRIORNET_CUDA)
/// The stream that LibTorch uses now, as a cudaStream_t.
inline void* current_cuda_stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

/// Calls work(row) for every row on the GPU. Defined in the .cu file that lists the kinds of work; `stream` is a
/// cudaStream_t.
template <class Work>
void launch_rows(const Work& work, int64_t rows, void* stream);
#endif

/// Calls work(row) for every row on the data's device; `elements_per_row` tells how many rows are worth a thread.
template <class Work>
void for_each_row(const Work& work, int64_t rows, int64_t elements_per_row, bool on_cuda) {
#if defined(PRIORNET_CUDA)
  if (on_cuda) return launch_rows(work, rows, current_cuda_stream());
#endif
  static_cast<void>(on_cuda);
  parallel_rows(rows, elements_per_row, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) work(row);
  });
}

}  // namespace priornet
