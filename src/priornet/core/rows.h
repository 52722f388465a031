#pragma once

#include <priornet/core/device.h>
#include <priornet/core/parallel.h>

namespace priornet {

#if defined(PRIORNET_CUDA)
/// Calls work(row) for every row on the GPU. Defined in the .cu file that lists the kinds of work there are; `stream`
/// is a cudaStream_t.
template <class Work>
void launch_rows(const Work& work, int64_t rows, void* stream);
#endif

/// Calls work(row) for every row where the data lies; `elements_per_row` tells how much of it is worth a thread.
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
