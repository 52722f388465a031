#include <priornet/data/transforms/additive_noise.h>

#include <priornet/core/checks.h>
#include <priornet/core/random_draws.h>
#include <priornet/core/seeds.h>

#include <cmath>

namespace priornet {

uint64_t additive_noise_seed(uint64_t seed) { return derive_seed(seed, "additive noise"); }

torch::Tensor add_gaussian_noise(const torch::Tensor& images, const GaussianNoise& noise) {
  constexpr const char* kFunction = "add_gaussian_noise";
  check_floating(kFunction, "images", images);
  check_same_dtype(kFunction, "images", images, "a network's inputs", torch::empty({0}));
  check_range(kFunction, "the rank of images", images.dim() >= 1, "at least 1", static_cast<double>(images.dim()));
  check_range(kFunction, "sigma", std::isfinite(noise.sigma) && noise.sigma >= 0, "at least 0", noise.sigma);
  check_range(kFunction, "first_row", noise.first_row >= 0, "at least 0", static_cast<double>(noise.first_row));
  const int64_t rows = images.size(0);
  const int64_t elements = rows == 0 ? 0 : images.numel() / rows;
  const auto draws = normal_draws(rows, elements, {additive_noise_seed(noise.seed), noise.first_row, images.device()});
  return torch::add(images, draws.view(images.sizes()), noise.sigma);
}

}  // namespace priornet
