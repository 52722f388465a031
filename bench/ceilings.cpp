#include "ceilings.h"

#include "timing.h"

namespace priornet::bench {

Ceilings measure_ceilings(const torch::Device& device, double seconds) {
  constexpr int64_t kSide = 8192;
  constexpr int64_t kBytes = int64_t{1} << 30;
  constexpr int kCalls = 10;
  const torch::NoGradGuard no_gradient;
  const auto there = torch::TensorOptions(device);
  // Never zeros: products of zeros can run faster.
  const auto left = torch::randn({kSide, kSide}, there.dtype(torch::kBFloat16));
  const auto right = torch::randn({kSide, kSide}, there.dtype(torch::kBFloat16));
  auto product = torch::empty_like(left);
  const auto from = torch::randint(256, {kBytes}, there.dtype(torch::kUInt8));
  const auto to = torch::empty_like(from);
  const auto several = [&](const std::function<void()>& work) {
    return [&] {
      for (int i = 0; i < kCalls; ++i) work();
      wait_for(device);
    };
  };
  const std::function<void()> multiply = [&] { at::mm_out(product, left, right); };
  const std::function<void()> copy = [&] { to.copy_(from); };
  const auto best = fastest(seconds, several(multiply), several(copy));
  const double side = kSide;
  return {2 * side * side * side * kCalls / best.ours, 2.0 * static_cast<double>(kBytes) * kCalls / best.plain};
}

}  // namespace priornet::bench
