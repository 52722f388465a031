#pragma once

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace priornet {

/// Where a tensor lies. Throws ArgumentError for a device the library has no kernels for: anything but CPU and CUDA,
/// and CUDA if this build has none.
bool is_on_cuda(std::string_view function, const torch::Tensor& tensor);

/// The stream LibTorch works on now, as a cudaStream_t.
void* current_cuda_stream();

/// Calls body(begin, end) over [0, rows) from all of LibTorch's threads, in pieces of at least ~16k elements: less is
/// not worth a thread.
template <class Body>
void parallel_rows(int64_t rows, int64_t elements_per_row, const Body& body) {
  constexpr int64_t kElements = 16384;
  at::parallel_for(0, rows, std::max<int64_t>(1, kElements / std::max<int64_t>(1, elements_per_row)), body);
}

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
