#include "tool/commands/options.h"

#include <priornet/uncertainty/errors.h>
#include <torch/cuda.h>

namespace priornet::tool {

void add_device_option(CLI::App& command, std::string& name, const std::string& what) {
  command.add_option("--device", name, what + ": auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
}

torch::Device chosen_device(const std::string& name) {
#if defined(PRIORNET_CUDA)
  const bool there = torch::cuda::is_available();
  if (name == "cuda" && !there) throw Error("--device cuda: LibTorch finds no CUDA device here; use --device cpu");
#else
  const bool there = false;
  if (name == "cuda") throw Error("--device cuda: this build has no CUDA kernels; use --device cpu");
#endif
  return name == "cuda" || (name == "auto" && there) ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
}

}  // namespace priornet::tool
