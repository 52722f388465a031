#pragma once

#include <torch/types.h>

#include <memory>

namespace priornet {

/// While it lives, what LibTorch does on a GPU happens on a stream of its own, as capturing a CUDA graph asks for. Its
/// end waits for that stream. Nothing on a CPU.
class SideStream {
 public:
  explicit SideStream(const torch::Device& device);
  ~SideStream();

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

}  // namespace priornet
