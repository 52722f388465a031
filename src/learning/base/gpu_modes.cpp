#include "learning/base/gpu_modes.h"

#include <torch/version.h>
#if defined(PRIORNET_CUDA)
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include <utility>

namespace priornet {

void Autocast::enable(bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, on);
  // A captured graph must not hold casts of weights that a cache made before the capture.
  at::autocast::set_autocast_cache_enabled(false);
#else
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(on);
  at::autocast::set_autocast_cache_enabled(false);
#endif
}

#if defined(PRIORNET_CUDA)
struct CaptureStream::Guard {
  explicit Guard(c10::cuda::CUDAStream chosen) : stream(chosen) {}
  c10::cuda::CUDAStreamGuard stream;
};

CaptureStream::CaptureStream(const torch::Device& device) {
  if (!device.is_cuda()) return;
  c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
  guard_ = std::make_unique<Guard>(c10::cuda::getStreamFromPool(true, device.index()));
}

CaptureStream::~CaptureStream() {
  if (guard_) guard_->stream.current_stream().synchronize();
}

struct SecondStream::Stream {
  c10::cuda::CUDAStream stream;
};

SecondStream::SecondStream(const torch::Device& device)
    : stream_(std::make_unique<Stream>(Stream{c10::cuda::getStreamFromPool(false, device.index())})) {}

void SecondStream::run(const std::function<void()>& work, std::vector<torch::Tensor> reads) {
  at::cuda::CUDAEvent ready;
  ready.record();
  const c10::cuda::CUDAStreamGuard guard(stream_->stream);
  ready.block(stream_->stream);
  work();
  held_.insert(held_.end(), reads.begin(), reads.end());
}

void SecondStream::join() {
  if (held_.empty()) return;  // a captured graph must not wait for work outside it
  at::cuda::CUDAEvent done;
  done.record(stream_->stream);
  done.block(c10::cuda::getCurrentCUDAStream());
  held_.clear();
}
#else
struct CaptureStream::Guard {};
CaptureStream::CaptureStream(const torch::Device&) {}
CaptureStream::~CaptureStream() = default;
struct SecondStream::Stream {};
SecondStream::SecondStream(const torch::Device&) {}
void SecondStream::run(const std::function<void()>& work, std::vector<torch::Tensor>) { work(); }
void SecondStream::join() {}
#endif
SecondStream::~SecondStream() = default;

namespace {

thread_local std::shared_ptr<SecondStream> weight_gradients;

}  // namespace

WeightGradientsAside::WeightGradientsAside(std::shared_ptr<SecondStream> stream)
    : before_(std::exchange(weight_gradients, std::move(stream))) {}

WeightGradientsAside::~WeightGradientsAside() { weight_gradients = before_; }

const std::shared_ptr<SecondStream>& WeightGradientsAside::stream() { return weight_gradients; }

}  // namespace priornet
