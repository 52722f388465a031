#include <priornet/uncertainty/random.h>

#include <vector>

#include "learning/synthesis/made_up_images.h"
#include "learning/training/outlier_sources.h"

// Gaussian and uniform noise: of images pixel by pixel, of rows around the training set and beyond.

namespace priornet {
namespace {

constexpr Setting kSigma = {"sigma", 1.0, above(0), "of Gaussian noise, in [-1, 1] units"};

enum class Noise { kGaussian, kUniform };

double sigma_of(const SettingValues& settings) {
  const auto found = settings.find(kSigma.key);
  return found == settings.end() ? 0.0 : found->second;  // uniform noise has none
}

template <Noise noise>
class NoiseImages final : public OutsideSource {
 public:
  NoiseImages(const SettingValues& settings, const OutsideContext& context)
      : sigma_(sigma_of(settings)), shape_(image_shape(context.train)), device_(context.device), seed_(context.seed) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    const DrawOptions draw{seed_of_step(seed_, batch.step), batch.first, device_};
    return noise == Noise::kUniform ? uniform_noise_images(batch.count, shape_, draw)
                                    : gaussian_noise_images(batch.count, shape_, draw, sigma_);
  }

 private:
  double sigma_;
  ImageShape shape_;
  torch::Device device_;
  uint64_t seed_;
};

// Feature by feature, centre + width * a draw: normal around the mean, sigma times as wide as the training set is; or
// a box three times as wide as its range.
template <Noise noise>
class NoiseRows final : public OutsideSource {
 public:
  NoiseRows(const SettingValues& settings, const OutsideContext& context)
      : device_(context.device), seed_(context.seed) {
    const auto& rows = context.train.inputs;
    if (noise == Noise::kUniform) {
      const auto low = std::get<0>(rows.min(0));
      const auto high = std::get<0>(rows.max(0));
      centre_ = (low + high) / 2;
      width_ = 1.5 * (high - low);
    } else {
      centre_ = rows.mean(0);
      width_ = sigma_of(settings) * (rows - centre_).square().mean(0).sqrt();
    }
  }

  torch::Tensor batch(const OutsideBatch& batch) override {
    auto generator = make_generator(seed_of_step(seed_, batch.step));
    const std::vector<int64_t> shape = {batch.whole, centre_.size(0)};
    const auto draws =
        noise == Noise::kUniform ? 2 * torch::rand(shape, generator) - 1 : torch::randn(shape, generator);
    return (centre_ + width_ * draws.narrow(0, batch.first, batch.count)).to(device_);
  }

 private:
  torch::Device device_;
  uint64_t seed_;
  torch::Tensor centre_;
  torch::Tensor width_;
};

}  // namespace

OutlierSourceInfo gaussian_noise_source() {
  return {.name = kGaussianNoise,
          .summary = "Gaussian noise; of rows around their mean, sigma times as wide as they are",
          .settings = {kSigma},
          .images = made_outside<NoiseImages<Noise::kGaussian>>,
          .rows = made_outside<NoiseRows<Noise::kGaussian>>};
}

OutlierSourceInfo uniform_noise_source() {
  return {.name = kUniformNoise,
          .summary = "uniform noise; of rows in a box three times as wide as their range",
          .settings = {},
          .images = made_outside<NoiseImages<Noise::kUniform>>,
          .rows = made_outside<NoiseRows<Noise::kUniform>>};
}

}  // namespace priornet
