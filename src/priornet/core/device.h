#pragma once

#include <torch/types.h>

#include <string_view>

namespace priornet {

/// Where a tensor lies. Throws ArgumentError for a device the library has no kernels for: anything but CPU and CUDA,
/// and CUDA if this build has none.
bool is_on_cuda(std::string_view function, const torch::Tensor& tensor);

/// The stream LibTorch works on now, as a cudaStream_t.
void* current_cuda_stream();

}  // namespace priornet
