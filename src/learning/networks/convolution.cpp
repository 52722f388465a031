#include "learning/networks/convolution.h"

#if defined(PRIORNET_CUDA)
#include "learning/networks/fused_convolution.h"
#endif

namespace priornet {

torch::Tensor activated(torch::Tensor values, double slope) {
  if (slope == 1.0) return values;
  return slope == 0.0 ? torch::relu_(values) : torch::leaky_relu_(values, slope);
}

torch::Tensor convolved(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope) {
#if defined(PRIORNET_CUDA)
  if (convolution->bias.defined() && fused::follows(inputs, convolution))
    return fused::biased(inputs, convolution, slope);
#endif
  return activated(convolution->forward(inputs), slope);
}

torch::Tensor convolved_and_pooled(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope) {
#if defined(PRIORNET_CUDA)
  if (convolution->bias.defined() && fused::follows(inputs, convolution) && fused::can_pool(inputs))
    return fused::biased_and_pooled(inputs, convolution, slope);
#endif
  return torch::max_pool2d(convolved(inputs, convolution, slope), 2);
}

torch::Tensor normed(const torch::Tensor& values, torch::nn::BatchNorm2d& norm, double slope,
                     const torch::Tensor& residual) {
#if defined(PRIORNET_CUDA)
  if (norm->is_training() && fused::takes(values) && (!residual.defined() || fused::takes(residual)))
    return fused::normed(values, norm, slope, residual);
#endif
  const auto result = norm->forward(values);
  return activated(residual.defined() ? result + residual : result, slope);
}

torch::Tensor convolved_and_normed(const torch::Tensor& inputs, torch::nn::Conv2d& convolution,
                                   torch::nn::BatchNorm2d& norm, double slope, const torch::Tensor& residual) {
  return normed(convolution->forward(inputs), norm, slope, residual);
}

}  // namespace priornet
