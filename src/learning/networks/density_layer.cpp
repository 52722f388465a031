#include "learning/networks/density_layer.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <torch/nn/init.h>

#include <cmath>
#include <numbers>

#include "learning/networks/layers.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

constexpr int64_t kFlows = 6;          // of a class, as in the paper
constexpr double kNoDistance = 1e-12;  // avoids the infinite slope of a square root at 0

}  // namespace

torch::Tensor radial_log_density(const torch::Tensor& z, const torch::Tensor& centres, const torch::Tensor& widths,
                                 const torch::Tensor& pulls) {
  check_rank("radial_log_density", "z", z, 2);
  check_rank("radial_log_density", "centres", centres, 3);
  const auto dimensions = z.size(1);
  const auto a = torch::softplus(widths).unsqueeze(0), s = torch::softplus(pulls).unsqueeze(0);  // [1, C, L]
  auto point = z.unsqueeze(1);                                                                   // [N, 1, D]
  torch::Tensor volume;
  for (int64_t flow = 0; flow < centres.size(1); ++flow) {
    const auto away = point - centres.select(1, flow);
    const auto r = (away.square().sum(2) + kNoDistance).sqrt();  // [N, C]
    const auto width = a.select(2, flow), pull = s.select(2, flow);
    // 1 + beta h = (r + s) / (a + r), and 1 + beta h + beta h' r = (r^2 + 2 a r + a s) / (a + r)^2: sums of numbers
    // above 0, while 1 + beta h itself may cancel.
    const auto reach = (width + r).log();
    const auto stretched = static_cast<double>(dimensions - 1) * ((r + pull).log() - reach) +
                           (r * (r + 2.0 * width) + width * pull).log() - 2.0 * reach;
    volume = volume.defined() ? volume + stretched : stretched;
    point = centres.select(1, flow) + away * ((r + pull) / (width + r)).unsqueeze(2);
  }
  const double constant = 0.5 * static_cast<double>(dimensions) * std::log(2.0 * std::numbers::pi);
  return volume - 0.5 * point.square().sum(2) - constant;
}

struct DensityLayer::Flows : torch::nn::Module {
  Flows(const DensityOptions& options, const at::Generator& generator) {
    // Wide flows that move points little, around different centres.
    centres = register_parameter(
        "centres", torch::randn({options.classes, kFlows, options.dimensions}, generator, torch::kFloat32));
    widths = register_parameter("widths", torch::zeros({options.classes, kFlows}));
    pulls = register_parameter("pulls", torch::zeros({options.classes, kFlows}));
  }

  torch::Tensor centres, widths, pulls;
};

DensityLayer::DensityLayer(const DensityOptions& options) : options_(options) {
  check_range("network", "density", options.dimensions >= 1, "at least 1", static_cast<double>(options.dimensions));
  check_range("network", "density_rows", options.rows > 0.0, "above 0", options.rows);
}

std::string DensityLayer::label() const {
  return fmt::format("densities in {} dimensions, {:g} rows per class", options_.dimensions, options_.rows);
}

Layer::Shape DensityLayer::output_shape(const Shape& input) const {
  if (input != Shape{options_.inputs})
    throw ArgumentError(fmt::format("densities: want {} features per input", options_.inputs));
  return {options_.classes};
}

Layer::Size DensityLayer::size(const Shape&) const {
  const auto inputs = static_cast<double>(options_.inputs), dimensions = static_cast<double>(options_.dimensions);
  const auto flows = static_cast<double>(kFlows * options_.classes);
  return {(inputs + 1.0) * dimensions + 2.0 * dimensions + flows * (dimensions + 2.0), inputs * dimensions};
}

void DensityLayer::make_weights(const at::Generator& generator) {
  latent_ = torch::nn::Linear(options_.inputs, options_.dimensions);
  initialise_normal(latent_->weight, kLastGain, generator);
  torch::nn::init::zeros_(latent_->bias);
  norm_ = torch::nn::BatchNorm1d(options_.dimensions);
  flows_ = std::make_shared<Flows>(options_, generator);
}

Layer::Modules DensityLayer::modules() const {
  if (!flows_) return {};
  return {{"", latent_.ptr()}, {"_norm", norm_.ptr()}, {"_flows", flows_}};
}

torch::Tensor DensityLayer::forward(const torch::Tensor& x) {
  const auto z = latent_->forward(x);
  const bool half = z.scalar_type() == torch::kBFloat16 || z.scalar_type() == torch::kHalf;
  const auto point = norm_->forward(half ? z.to(torch::kFloat32) : z);
  return radial_log_density(point, flows_->centres, flows_->widths, flows_->pulls) + std::log(options_.rows);
}

}  // namespace priornet
