#pragma once

#include <priornet/learning/network.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

namespace priornet {

/// The last layer of a posterior network (Charpentier et al., 2020), in place of logits. A dense layer and batch norm
/// turn features into a point z of a small space, and each class has a density there, a Gaussian bent by radial flows.
/// The layer gives ln N + ln p(z | c), the logarithm of a class's evidence, where N is the number of rows per class:
/// with model.prior = 1 the concentrations are 1 + N p(z | c), and 1 each far from all training data. docs/math.md,
/// section 5.
struct DensityOptions {
  int64_t inputs = 1;
  int64_t classes = 2;
  int64_t dimensions = 6;  ///< of z
  double rows = 1.0;       ///< N, above 0
};

class DensityLayer : public Layer {
 public:
  explicit DensityLayer(const DensityOptions& options);
  std::string label() const override;
  Shape output_shape(const Shape& input) const override;
  Size size(const Shape& input) const override;
  void make_weights(const at::Generator& generator) override;
  Modules modules() const override;
  torch::Tensor forward(const torch::Tensor& x) override;

 private:
  struct Flows;  ///< of all classes, as a module
  DensityOptions options_;
  torch::nn::Linear latent_ = nullptr;
  torch::nn::BatchNorm1d norm_ = nullptr;
  std::shared_ptr<Flows> flows_;
};

/// Radial flows (Rezende and Mohamed, 2015), one chain per class: ln p(z | c), [N, C], of points z [N, D]. centres [C,
/// L, D]; widths and pulls [C, L], any numbers. A flow moves z by beta (z - centre) / (a + |z - centre|) with a =
/// softplus(width) and beta = softplus(pull) - a, so that it can be inverted; the chain ends in a standard Gaussian.
/// float32 or float64, differentiable, finite for every finite z.
torch::Tensor radial_log_density(const torch::Tensor& z, const torch::Tensor& centres, const torch::Tensor& widths,
                                 const torch::Tensor& pulls);

}  // namespace priornet
