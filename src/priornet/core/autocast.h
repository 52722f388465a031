#pragma once

#include <ATen/autocast_mode.h>

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

}  // namespace priornet
