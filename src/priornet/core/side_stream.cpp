#include <priornet/core/side_stream.h>

#if defined(PRIORNET_CUDA)
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace priornet {

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
