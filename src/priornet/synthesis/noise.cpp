#include <priornet/synthesis/noise.h>

#include <priornet/core/checks.h>
#include <priornet/core/seeds.h>

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

}  // namespace

torch::Tensor gaussian_noise_images(int64_t count, const ImageShape& shape, uint64_t seed, double sigma) {
  const auto all = sizes("gaussian_noise_images", count, shape);
  check_range("gaussian_noise_images", "sigma", std::isfinite(sigma) && sigma >= 0, "at least 0", sigma);
  auto generator = make_generator(derive_seed(seed, "gaussian noise images"));
  const auto unit = torch::randn(all, generator, torch::kFloat32).mul_(sigma).clamp_(-1, 1);
  return unit.add_(1).mul_(127.5).round_().to(torch::kUInt8);
}

torch::Tensor uniform_noise_images(int64_t count, const ImageShape& shape, uint64_t seed) {
  const auto all = sizes("uniform_noise_images", count, shape);
  auto generator = make_generator(derive_seed(seed, "uniform noise images"));
  return torch::randint(256, all, generator, torch::kUInt8);
}

}  // namespace priornet
