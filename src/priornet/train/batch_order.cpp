#include <fmt/format.h>
#include <priornet/core/seeds.h>
#include <priornet/train/batch_order.h>

#include <algorithm>
#include <vector>

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

}  // namespace priornet
