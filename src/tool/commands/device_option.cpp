#include "tool/commands/device_option.h"

#include <priornet/uncertainty/errors.h>
#include <torch/cuda.h>

namespace priornet::tool {

Option device_option(std::string& name, const std::string& what) {
  return {.name = "--device",
          .to = &name,
          .help = what + ": auto, cpu or cuda",
          .shows_default = true,
          .choices = {"auto", "cpu", "cuda"}};
}

Option torchscript_option(bool& allowed) {
  return {.name = "--allow-torchscript",
          .to = &allowed,
          .help = "Allow a network that PyTorch scripted or compiled: it is a program and runs what its author wrote"};
}

c10::Device chosen_device(const std::string& name) {
#if defined(PRIORNET_CUDA)
  const bool there = torch::cuda::is_available();
  if (name == "cuda" && !there) throw Error("--device cuda: LibTorch finds no CUDA device here; use --device cpu");
#else
  const bool there = false;
  if (name == "cuda") throw Error("--device cuda: this build has no CUDA kernels; use --device cpu");
#endif
  return name == "cuda" || (name == "auto" && there) ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
}

}  // namespace priornet::tool
