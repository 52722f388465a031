#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

namespace priornet {

/// Dropout draws from LibTorch's own generator, which then has to be seeded. When this object ends, that of the CPU
/// goes on where the program that calls the library had left it.
class KeptRandomState {
 public:
  KeptRandomState() : generator_(at::detail::getDefaultCPUGenerator()) {
    const std::lock_guard lock(generator_.mutex());
    state_ = generator_.get_state();
  }
  ~KeptRandomState() {
    const std::lock_guard lock(generator_.mutex());
    generator_.set_state(state_);
  }
  KeptRandomState(const KeptRandomState&) = delete;
  KeptRandomState& operator=(const KeptRandomState&) = delete;

 private:
  at::Generator generator_;
  at::Tensor state_;
};

}  // namespace priornet
