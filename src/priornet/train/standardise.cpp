#include <priornet/train/standardise.h>

namespace priornet {

torch::Tensor standardised_rows(const torch::Tensor& rows, const torch::Tensor& mean, const torch::Tensor& deviation) {
  return ((rows - mean) / deviation).clamp(-kFarthestDeviations, kFarthestDeviations);
}

}  // namespace priornet
