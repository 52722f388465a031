#include <priornet/synthesis/noise.h>

#include <priornet/core/checks.h>

#include <cmath>

namespace priornet {
namespace {

std::vector<int64_t> sizes(const char* function, int64_t count, const ImageShape& shape) {
  check_range(function, "count", count >= 0, "at least 0", static_cast<double>(count));
  for (const auto& [name, size] :
       {std::pair{"channels", shape.channels}, {"height", shape.height}, {"width", shape.width}})
    check_range(function, name, size >= 1, "at least 1", static_cast<double>(size));
  return {count, shape.channels, shape.height, shape.width};
}

int64_t pixels(const ImageShape& shape) { return shape.channels * shape.height * shape.width; }

}  // namespace

torch::Tensor gaussian_noise_images(int64_t count, const ImageShape& shape, const DrawOptions& draw, double sigma) {
  const auto all = sizes("gaussian_noise_images", count, shape);
  check_range("gaussian_noise_images", "sigma", std::isfinite(sigma) && sigma >= 0, "at least 0", sigma);
  const auto unit = normal_draws(count, pixels(shape), draw).mul_(sigma).clamp_(-1, 1);
  return unit.add_(1).mul_(127.5).round_().to(torch::kUInt8).view(all);
}

torch::Tensor uniform_noise_images(int64_t count, const ImageShape& shape, const DrawOptions& draw) {
  const auto all = sizes("uniform_noise_images", count, shape);
  // A draw just below 1 may round up to 1.
  return uniform_draws(count, pixels(shape), draw).mul_(256).clamp_max_(255).to(torch::kUInt8).view(all);
}

}  // namespace priornet
