#include <priornet/core/autocast.h>
#include <torch/version.h>

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

}  // namespace priornet
