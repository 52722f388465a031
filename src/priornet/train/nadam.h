#pragma once

#include <priornet/train/optimiser.h>

namespace priornet {

/// With m and v the running means of the gradient g and of its square, and mu_t the momentum of step t:
/// p -= rate ((1 - mu_t) / (1 - mu_1 ... mu_t) g + mu_(t+1) / (1 - mu_1 ... mu_(t+1)) m) / (sqrt(v / (1 - beta2^t)) +
/// epsilon).
class NAdam final : public Optimiser {
 public:
  NAdam(FlatParameters& parameters, const OptimiserOptions& options, const std::vector<double>& rates);

 private:
  void update(const torch::Tensor& row) override;
};

}  // namespace priornet
