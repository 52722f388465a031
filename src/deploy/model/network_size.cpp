#include "deploy/model/network_size.h"

#include <cmath>
#include <limits>

#include "learning/networks/resnet.h"
#include "learning/networks/vgg.h"

namespace priornet {
namespace {

// In floating point, which a product of absurd sizes does not overflow.
class WeightCount {
 public:
  explicit WeightCount(double inputs) : inputs_(checked(inputs)) {}

  void layer(double units, double weights_a_pair = 1.0) {
    weights_ += weights_a_pair * inputs_ * checked(units) + 1.0;
    inputs_ = units;
  }
  void flatten(double pixels) { inputs_ *= checked(pixels); }
  double weights() const { return weights_; }

 private:
  static double checked(double size) { return size >= 1.0 ? size : std::numeric_limits<double>::infinity(); }

  double inputs_;
  double weights_ = 0.0;
};

double of_mlp(const ModelOptions& options) {
  WeightCount count(static_cast<double>(options.input[0]));
  for (const auto units : options.dense.value_or(std::vector<int64_t>{})) count.layer(static_cast<double>(units));
  count.layer(static_cast<double>(options.classes));
  return count.weights();
}

double of_vgg(const ModelOptions& options) {
  const auto defaults = options.name == "vgg16" ? vgg16() : vgg6();
  const auto& blocks = options.blocks ? *options.blocks : defaults.blocks;
  const auto& dense = options.dense ? *options.dense : defaults.dense;
  WeightCount count(static_cast<double>(options.input[0]));
  for (const auto& block : blocks)
    for (const auto channels : block) count.layer(static_cast<double>(channels), 9.0);
  const auto halved = [&](int64_t side) {
    return std::floor(std::ldexp(static_cast<double>(side), -static_cast<int>(std::min<size_t>(blocks.size(), 64))));
  };
  count.flatten(halved(options.input[1]) * halved(options.input[2]));
  for (const auto units : dense) count.layer(static_cast<double>(units));
  count.layer(static_cast<double>(options.classes));
  return count.weights();
}

double of_resnet(const ModelOptions& options) {
  WeightCount count(static_cast<double>(options.input[0]));
  for (const auto channels : options.channels ? *options.channels : ResNetOptions().channels)
    count.layer(static_cast<double>(channels), 9.0);
  count.layer(static_cast<double>(options.classes));
  return count.weights();
}

}  // namespace

double least_weights(const ModelOptions& options) {
  if (options.input.size() == 1) return of_mlp(options);
  if (options.input.size() != 3) return std::numeric_limits<double>::infinity();
  return options.name == "resnet18" ? of_resnet(options) : of_vgg(options);
}

}  // namespace priornet
