#pragma once

#include <priornet/train/optimiser.h>

namespace priornet {

/// b = momentum b + g; then p -= rate b, or by Nesterov's rule p -= rate (g + momentum b).
class Sgd final : public Optimiser {
 public:
  Sgd(FlatParameters& parameters, const OptimiserOptions& options, const std::vector<double>& rates);

 private:
  void update(const torch::Tensor& row) override;
};

}  // namespace priornet
