#include "learning/base/gpu_modes.h"

#include <torch/version.h>
#if defined(PRIORNET_CUDA)
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace priornet {

void Autocast::enable(bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, on);
  // A captured graph must not hold casts of weights that a cache made before it.
  at::autocast::set_autocast_cache_enabled(false);
#else
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(on);
  at::autocast::set_autocast_cache_enabled(false);
#endif
}

#if defined(PRIORNET_CUDA)
struct SideStream::Guard {
  explicit Guard(c10::cuda::CUDAStream chosen) : stream(chosen) {}
  c10::cuda::CUDAStreamGuard stream;
};

SideStream::SideStream(const torch::Device& device) {
  if (!device.is_cuda()) return;
  c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
  guard_ = std::make_unique<Guard>(c10::cuda::getStreamFromPool(true, device.index()));
}

SideStream::~SideStream() {
  if (guard_) guard_->stream.current_stream().synchronize();
}
#else
struct SideStream::Guard {};
SideStream::SideStream(const torch::Device&) {}
SideStream::~SideStream() = default;
#endif

}  // namespace priornet
