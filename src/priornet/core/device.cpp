#include <priornet/core/device.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>

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
  throw ArgumentError(fmt::format("{}: tensors should be {}, found {}", function, kWanted, tensor.device().str()));
}

void* current_cuda_stream() {
#if defined(PRIORNET_CUDA)
  return c10::cuda::getCurrentCUDAStream().stream();
#else
  return nullptr;
#endif
}

}  // namespace priornet
