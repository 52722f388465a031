#include <priornet/uncertainty/errors.h>
#include <torch/version.h>

#include <set>

#include "gpu_training.h"
#include "our_training.h"
#include "timing.h"

// Older LibTorches have the same profiler interface, but no build with one was tried.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
#define PRIORNET_HAVE_PROFILER
#include <torch/csrc/autograd/profiler_kineto.h>
#endif

namespace priornet::bench {

#if defined(PRIORNET_HAVE_PROFILER)
void trace_training(const torch::Device& device, const std::string& network, const std::filesystem::path& file) {
  namespace profiler = torch::autograd::profiler;
  using torch::profiler::impl::ActivityType;
  OurTraining ours(training_cases({network}).front(), device, true);
  for (int i = 0; i < 10; ++i) ours.step();
  wait_for(device);
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  std::set<ActivityType> activities = {ActivityType::CPU};
  if (device.is_cuda()) activities.insert(ActivityType::CUDA);
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  for (int i = 0; i < 3; ++i) ours.step();
  wait_for(device);
  profiler::disableProfiler()->save(file.string());
}
#else
void trace_training(const torch::Device&, const std::string&, const std::filesystem::path&) {
  throw Error("--trace: needs LibTorch 2.4 or later, found " TORCH_VERSION);
}
#endif

}  // namespace priornet::bench
