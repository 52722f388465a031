#include <priornet/synthesis/factor_samples.h>

#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/random_draws.h>
#include <priornet/core/seeds.h>

#include <cmath>

namespace priornet {

torch::Tensor sample(const FactorAnalysis& model, int64_t count, const ScaleOptions& scale, uint64_t seed) {
  check_range("sample", "count", count >= 0, "at least 0", static_cast<double>(count));
  check_range("sample", "low", scale.low >= 0 && scale.low <= scale.high, fmt::format("in [0, {}]", scale.high),
              scale.low);
  check_range("sample", "high", std::isfinite(scale.high), "finite", scale.high);
  check_range("sample", "batch", scale.batch >= 1, "at least 1", static_cast<double>(scale.batch));
  const auto device = model.mean.device();
  // A stream each, so that the batch of the scale leaves latent vectors and noise as they are.
  const auto draw = [&](const char* purpose) { return DrawOptions{derive_seed(seed, purpose), 0, device}; };
  const auto there = [](const torch::Tensor& tensor) { return tensor.to(torch::kFloat32); };
  const int64_t batches = (count + scale.batch - 1) / scale.batch;
  const auto uniform = uniform_draws(batches, 1, draw("scale"));
  const auto spread = (uniform * (scale.high - scale.low) + scale.low).sqrt();
  const auto each = spread.expand({batches, scale.batch}).reshape({-1, 1}).slice(0, 0, count);
  const auto latent = normal_draws(count, model.loading.size(1), draw("latent"));
  const auto noise = normal_draws(count, model.mean.size(0), draw("noise"));
  return latent.matmul(there(model.loading).t())
      .add_(noise.mul_(there(model.noise.sqrt())))
      .mul_(each)
      .add_(there(model.mean));
}

torch::Tensor squash(const torch::Tensor& samples, Squash how) {
  check_floating("squash", "samples", samples);
  return how == Squash::kTanh ? samples.tanh() : samples.clamp(-1, 1);
}

torch::Tensor sample_images(const FactorAnalysis& model, int64_t count, const ImageShape& shape,
                            const SampleImagesOptions& options) {
  const int64_t pixels = shape.channels * shape.height * shape.width;
  check_range("sample_images", "the number of pixels", pixels == model.mean.size(0),
              fmt::format("the model's {}", model.mean.size(0)), static_cast<double>(pixels));
  const auto unit = squash(sample(model, count, options.scale, options.seed), options.squash);
  return unit.add_(1).mul_(127.5).round_().to(torch::kUInt8).view({count, shape.channels, shape.height, shape.width});
}

}  // namespace priornet
