#include "timing.h"

#include <ATen/Parallel.h>

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
  const auto best = fastest(options.seconds, ours, plain);
  line.rows_per_second = static_cast<double>(rows) / best.ours;
  line.plain_rows_per_second = static_cast<double>(rows) / best.plain;
  return line;
}

void with_thread_counts(const std::function<void(int threads)>& run) {
  const int all = at::get_num_threads();
  at::set_num_threads(1);
  run(1);
  at::set_num_threads(all);
  if (all > 1) run(all);
}

torch::Tensor example_logits(int64_t classes, torch::Dtype dtype, const torch::Device& device) {
  torch::manual_seed(0);
  return (torch::rand({4'000'000 / classes, classes}, torch::TensorOptions(dtype)) * 15 - 5).to(device);
}

}  // namespace priornet::bench
