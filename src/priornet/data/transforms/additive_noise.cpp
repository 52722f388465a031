#include <priornet/data/transforms/additive_noise.h>

#include <priornet/core/checks.h>
#include <priornet/core/parallel.h>
#include <priornet/core/random_stream.h>
#include <priornet/core/seeds.h>

#include <cmath>

namespace priornet {

torch::Tensor add_gaussian_noise(const torch::Tensor& images, const GaussianNoise& noise) {
  constexpr const char* kFunction = "add_gaussian_noise";
  check_floating(kFunction, "images", images);
  check_same_dtype(kFunction, "images", images, "a network's inputs", torch::empty({0}));
  check_range(kFunction, "the rank of images", images.dim() >= 1, "at least 1", static_cast<double>(images.dim()));
  check_range(kFunction, "sigma", std::isfinite(noise.sigma) && noise.sigma >= 0, "at least 0", noise.sigma);
  check_range(kFunction, "first_row", noise.first_row >= 0, "at least 0", static_cast<double>(noise.first_row));
  const int64_t rows = images.size(0);
  const int64_t elements = rows == 0 ? 0 : images.numel() / rows;
  const auto draws = torch::empty(images.sizes(), torch::kFloat32);
  float* const values = draws.data_ptr<float>();
  const uint64_t seed = derive_seed(noise.seed, "additive noise");
  constexpr int64_t kCost = 32;  // of a draw, next to an element of a vectorised kernel
  parallel_rows(rows, kCost * elements, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t i = 0; i < elements; ++i)
        values[row * elements + i] = static_cast<float>(
            noise.sigma *
            RandomStream(seed, static_cast<uint64_t>(noise.first_row + row), static_cast<uint64_t>(i)).normal());
  });
  return images + draws.to(images.device());
}

}  // namespace priornet
