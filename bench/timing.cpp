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

Comparison compare(Comparison line, int64_t rows, const Options& options, const std::function<void()>& ours,
                   const std::function<void()>& plain) {
  ours();
  plain();
  double spent = 0;
  double best = seconds_of(ours);
  double best_plain = seconds_of(plain);
  for (int round = 0; round < 5 || spent < options.seconds; ++round) {
    const double time = seconds_of(ours);
    const double plain_time = seconds_of(plain);
    best = std::min(best, time);
    best_plain = std::min(best_plain, plain_time);
    spent += time + plain_time;
  }
  line.rows_per_second = static_cast<double>(rows) / best;
  line.plain_rows_per_second = static_cast<double>(rows) / best_plain;
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
