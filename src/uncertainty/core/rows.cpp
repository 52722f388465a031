#include "uncertainty/core/rows.h"

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>
#if defined(PRIORNET_CUDA)
#include <c10/cuda/CUDAStream.h>
#endif

namespace priornet {

bool is_on_cuda(std::string_view function, const torch::Tensor& tensor) {
  if (tensor.is_cpu()) return false;
#if defined(PRIORNET_CUDA)
  if (tensor.is_cuda()) return true;
  constexpr std::string_view kWanted = "on the CPU or a CUDA device";
#else
  constexpr std::string_view kWanted = "on the CPU (this build has no CUDA kernels)";
#endif
  throw ArgumentError(c10::str(function, ": tensors should be ", kWanted, ", found ", tensor.device().str()));
}

void* current_cuda_stream() {
#if defined(PRIORNET_CUDA)
  return c10::cuda::getCurrentCUDAStream().stream();
#else
  return nullptr;
#endif
}

}  // namespace priornet
