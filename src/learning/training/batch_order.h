#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "learning/training/batch_images.h"

namespace priornet {

/// Goes through a set again and again, each time in another order: a function of the seed and the place alone.
class BatchOrder {
 public:
  BatchOrder(int64_t size, uint64_t seed, const torch::Device& device = torch::kCPU)
      : size_(size), seed_(seed), device_(device) {}

  /// The rows of places first, ..., first + count - 1, int64 [count] on the device. Place p lies in pass p / size.
  torch::Tensor rows(int64_t first, int64_t count);

  /// The same for kernels that look a place up themselves: a ring for so many places at a time, empty until hold().
  /// Asked for another number, it is another ring.
  PassRing ring(int64_t count);
  /// Has the ring hold the passes of these places. The device does so when it comes to it.
  void hold(int64_t first, int64_t count);

 private:
  const torch::Tensor& pass(int64_t number);

  int64_t size_;
  uint64_t seed_;
  torch::Device device_;
  int64_t held_ = -1;  ///< which pass `order_` is
  torch::Tensor order_;
  torch::Tensor ring_;          ///< [slots, size]
  std::vector<int64_t> slots_;  ///< which pass each slot is, -1 for none
};

}  // namespace priornet
