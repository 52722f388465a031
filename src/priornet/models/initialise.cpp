#include <priornet/models/initialise.h>

#include <cmath>

namespace priornet {

void initialise_normal(torch::Tensor weight, double gain, at::Generator generator) {
  const torch::NoGradGuard no_gradient;
  const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
  weight.normal_(0.0, std::sqrt(gain / fan_in), std::move(generator));
}

}  // namespace priornet
