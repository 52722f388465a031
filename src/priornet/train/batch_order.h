#pragma once

#include <torch/types.h>

#include <cstdint>

namespace priornet {

/// Goes through a set again and again, each time in another order: a function of the seed and the place alone.
class BatchOrder {
 public:
  BatchOrder(int64_t size, uint64_t seed, const torch::Device& device = torch::kCPU)
      : size_(size), seed_(seed), device_(device) {}

  /// The rows of places first, ..., first + count - 1, int64 [count] on the device. Place p lies in pass p / size.
  torch::Tensor rows(int64_t first, int64_t count);

 private:
  const torch::Tensor& pass(int64_t number);

  int64_t size_;
  uint64_t seed_;
  torch::Device device_;
  int64_t held_ = -1;  ///< which pass `order_` is
  torch::Tensor order_;
};

}  // namespace priornet
