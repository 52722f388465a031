#include "timing.h"

#include <ATen/Parallel.h>
#include <torch/cuda.h>

#include <algorithm>
#include <chrono>

namespace priornet::bench {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

double fastest(double seconds, const std::function<void()>& work) {
  return fastest(seconds, work, [] {}).ours;
}

Fastest fastest(double seconds, const std::function<void()>& ours, const std::function<void()>& plain) {
  ours();
  plain();
  double spent = 0;
  Fastest best{seconds_of(ours), seconds_of(plain)};
  for (int round = 0; round < 5 || spent < seconds; ++round) {
    const double time = seconds_of(ours);
    const double plain_time = seconds_of(plain);
    best.ours = std::min(best.ours, time);
    best.plain = std::min(best.plain, plain_time);
    spent += time + plain_time;
  }
  return best;
}

Comparison compare(Comparison line, int64_t rows, const Options& options, const std::function<void()>& ours,
                   const std::function<void()>& plain) {
  const int calls = options.device.is_cpu() ? 1 : 10;
  const auto several = [&](const std::function<void()>& work) {
    return [&] {
      for (int i = 0; i < calls; ++i) work();
      wait_for(options.device);
    };
  };
  const auto best = fastest(options.seconds, several(ours), several(plain));
  line.rows_per_second = static_cast<double>(rows * calls) / best.ours;
  line.plain_rows_per_second = static_cast<double>(rows * calls) / best.plain;
  return line;
}

void with_thread_counts(const torch::Device& device, const std::function<void(int threads)>& run) {
  if (!device.is_cpu()) return run(0);
  const int all = at::get_num_threads();
  at::set_num_threads(1);
  run(1);
  at::set_num_threads(all);
  if (all > 1) run(all);
}

void wait_for(const torch::Device& device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

torch::Tensor example_logits(int64_t classes, torch::Dtype dtype, const torch::Device& device) {
  torch::manual_seed(0);
  const int64_t elements = device.is_cpu() ? 4'000'000 : 250'000'000;
  return torch::rand({elements / classes, classes}, torch::TensorOptions(dtype).device(device)).mul_(15).sub_(5);
}

}  // namespace priornet::bench
