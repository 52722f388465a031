#include <fmt/format.h>
#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/random.h>

#include "learning/synthesis/made_up_images.h"
#include "learning/training/outlier_sources.h"

namespace priornet {
namespace {

constexpr int64_t kMostFactorDimensions = 3072;  // the covariance is a matrix of them
constexpr int64_t kKeptImages = 10'000;          // to cut tiles and take backgrounds from

/// A quarter of each batch from a factor analysis of the training images (or Gaussian noise where they have too many
/// pixels for one), a half random shapes in front of their backgrounds, a quarter their tiles in another order:
/// what a network learns to be outside should be of many kinds.
class MixtureSource final : public OutsideSource {
 public:
  MixtureSource(const SettingValues& settings, const OutsideContext& context)
      : shape_(image_shape(context.train)), device_(context.device), seed_(context.seed) {
    const auto& train = context.train;
    pixels_ = make_outside(
        {train.inputs[0].numel() <= kMostFactorDimensions ? kFactorAnalysis : kGaussianNoise, settings, {}}, context);
    images_ = (train.size() > kKeptImages ? random_subset(train, kKeptImages, seed_) : train).inputs.to(torch::kCPU);
    backgrounds_ = background_colours(images_);
  }

  torch::Tensor batch(const OutsideBatch& batch) override {
    const auto quarter = batch.whole / 4;
    const auto seed = [&](const char* what) { return derive_seed(seed_, fmt::format("{} {}", what, batch.step)); };
    const auto whole = torch::cat({pixels_->batch({batch.step, quarter, 0, quarter}).to(torch::kCPU),
                                   shuffled_tiles(quarter, images_, seed("tiles")),
                                   random_shapes(batch.whole - 2 * quarter, shape_, backgrounds_, seed("shapes"))});
    return whole.narrow(0, batch.first, batch.count).to(device_);
  }

 private:
  ImageShape shape_;
  torch::Device device_;
  uint64_t seed_;
  std::unique_ptr<OutsideSource> pixels_;
  torch::Tensor images_;
  torch::Tensor backgrounds_;
};

}  // namespace

OutlierSourceInfo mixture_source() {
  const auto factors = factor_analysis_source();
  auto settings = factors.settings;
  for (const auto& setting : gaussian_noise_source().settings) settings.push_back(setting);
  return {.name = kMixture,
          .summary = "images of several kinds: factor analysis, shapes, shuffled tiles",
          .settings = settings,
          .images = made_outside<MixtureSource>,
          .refusal = factors.refusal};
}

}  // namespace priornet
