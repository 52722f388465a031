#pragma once

#include <ATen/autocast_mode.h>
#include <torch/types.h>

#include <memory>

namespace priornet {

/// While it lives, matrix products and convolutions on a GPU are computed in bfloat16, if asked.
class Autocast {
 public:
  explicit Autocast(bool bfloat16) : active_(bfloat16) {
    if (!active_) return;
    enable(true);
  }
  ~Autocast() {
    if (!active_) return;
    at::autocast::clear_cache();
    enable(false);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  // LibTorch 2.4 gave these functions another shape.
  static void enable(bool on);

  bool active_;
};

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
