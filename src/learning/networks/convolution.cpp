#include "learning/networks/convolution.h"

#include "learning/networks/stage_map.h"
#if defined(PRIORNET_CUDA)
#include "learning/networks/fused_convolution.h"
#endif

namespace priornet {

torch::Tensor convolved(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope) {
#if defined(PRIORNET_CUDA)
  if (fused::follows(inputs, convolution)) return fused::biased(inputs, convolution, slope);
#endif
  return activated(convolution->forward(inputs), slope);
}

torch::Tensor convolved_and_pooled(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope) {
#if defined(PRIORNET_CUDA)
  if (fused::follows(inputs, convolution) && fused::can_pool(inputs))
    return fused::biased_and_pooled(inputs, convolution, slope);
#endif
  return torch::max_pool2d(convolved(inputs, convolution, slope), 2);
}

torch::Tensor convolved_and_normed(const torch::Tensor& inputs, torch::nn::Conv2d& convolution,
                                   torch::nn::BatchNorm2d& norm, double slope, const torch::Tensor& residual) {
  const auto values = convolution->forward(inputs);
#if defined(PRIORNET_CUDA)
  if (norm->is_training() && fused::takes(values) && (!residual.defined() || fused::takes(residual)))
    return fused::normed(values, norm, slope, residual);
#endif
  const auto normed = norm->forward(values);
  return activated(residual.defined() ? normed + residual : normed, slope);
}

}  // namespace priornet
