#include "learning/training/batch_order.h"

#include <fmt/format.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>

namespace priornet {

const torch::Tensor& BatchOrder::pass(int64_t number) {
  if (number != held_) {
    const auto generator = make_generator(derive_seed(seed_, fmt::format("pass {}", number)));
    order_ = torch::randperm(size_, generator, torch::kInt64).to(device_);
    held_ = number;
  }
  return order_;
}

torch::Tensor BatchOrder::rows(int64_t first, int64_t count) {
  std::vector<torch::Tensor> parts;
  for (int64_t at = first; at < first + count;) {
    const auto within = at % size_;
    const auto taken = std::min(size_ - within, first + count - at);
    parts.push_back(pass(at / size_).narrow(0, within, taken));
    at += taken;
  }
  return parts.size() == 1 ? parts[0] : torch::cat(parts);
}

PassRing BatchOrder::ring(int64_t count) {
  // As many passes as `count` places in a row can touch.
  const int64_t slots = (count + size_ - 2) / size_ + 1;
  if (!ring_.defined() || ring_.size(0) != slots) {
    ring_ = torch::zeros({slots, size_}, torch::TensorOptions(torch::kInt64).device(device_));
    slots_.assign(static_cast<size_t>(slots), -1);
  }
  return {ring_.data_ptr<int64_t>(), size_, slots};
}

void BatchOrder::hold(int64_t first, int64_t count) {
  for (int64_t number = first / size_; number <= (first + count - 1) / size_; ++number) {
    const auto slot = static_cast<size_t>(number) % slots_.size();
    if (slots_[slot] == number) continue;
    ring_.select(0, static_cast<int64_t>(slot)).copy_(pass(number));
    slots_[slot] = number;
  }
}

}  // namespace priornet
