#include "device_option.h"

#include <priornet/core/errors.h>
#include <torch/cuda.h>

namespace priornet::tool {

torch::Device device_of_option(const std::string& name) {
#if defined(PRIORNET_CUDA)
  if (name == "auto") return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  if (name == "cuda" && !torch::cuda::is_available())
    throw Error("--device cuda: LibTorch finds no CUDA device here; use --device cpu");
  return name == "cuda" ? torch::kCUDA : torch::kCPU;
#else
  if (name == "cuda") throw Error("--device cuda: this build has no CUDA kernels; use --device cpu");
  return torch::kCPU;
#endif
}

}  // namespace priornet::tool
