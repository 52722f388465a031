#include "learning/networks/stage_map.h"

#include <cmath>

#include "learning/networks/convolution.h"

namespace priornet {
namespace {

torch::Tensor stage_output(ScaleMap& map, const torch::Tensor& x) { return x * map.factor; }
torch::Tensor stage_output(FlattenMap&, const torch::Tensor& x) { return x.flatten(1); }
torch::Tensor stage_output(ImageMeanMap&, const torch::Tensor& x) { return x.mean({2, 3}); }
torch::Tensor stage_output(DropoutMap& map, const torch::Tensor& x) { return map.layer->forward(x); }

torch::Tensor stage_output(DenseMap& map, const torch::Tensor& x) {
  return activated(map.layer->forward(x), map.slope);
}

torch::Tensor stage_output(ConvolutionMap& map, const torch::Tensor& x) {
  if (!map.norm) return map.pooled ? convolved_and_pooled(x, map.layer, map.slope) : convolved(x, map.layer, map.slope);
  const auto values = convolved_and_normed(x, map.layer, map.norm, map.slope);
  return map.pooled ? torch::max_pool2d(values, 2) : values;
}

torch::Tensor stage_output(ResidualMap& map, const torch::Tensor& x) {
  const auto inner = stage_output(map.first, x);
  const auto around = map.shortcut ? stage_output(*map.shortcut, x) : x;
  return convolved_and_normed(inner, map.second.layer, map.second.norm, map.second.slope, around);
}

}  // namespace

torch::Tensor StageMap::operator()(const torch::Tensor& values) {
  return std::visit([&](auto& map) { return stage_output(map, values); }, what);
}

void initialise_normal(torch::Tensor weight, double gain, at::Generator generator) {
  const torch::NoGradGuard no_gradient;
  const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
  weight.normal_(0.0, std::sqrt(gain / fan_in), std::move(generator));
}

}  // namespace priornet
