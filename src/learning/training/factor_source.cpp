#include <priornet/learning/factor_analysis.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "learning/synthesis/factor_images.h"
#include "learning/training/outlier_sources.h"
#include "learning/training/outside_stock.h"
#include "uncertainty/core/rows.h"

// Draws from a factor analysis of the training set, their variance inflated.

namespace priornet {
namespace {

constexpr Setting kLatent = {"latent", 50, at_least(1), "dimensions of factor analysis", Setting::Kind::kWhole};
constexpr Setting kScaleLow = {"scale_low", 0.01, at_least(0), "variance is inflated by a draw from here ..."};
constexpr Setting kScaleHigh = {"scale_high", 5.0, at_least(0), "... to here"};
constexpr Setting kFactorVariance = {"factor_variance", 1.0, above(0),
                                     "times the variance of the factors, apart from the noise"};
constexpr Setting kScaleEachSample = {
    "scale_each_sample", 0, {0, 1}, "one draw per image, not per batch", Setting::Kind::kFlag};
constexpr Setting kSquash = {"squash",
                             0,
                             {0, 1},
                             "into the range of inputs",
                             Setting::Kind::kWord,
                             {kSquashNames[0].first.data(), kSquashNames[1].first.data()}};

struct FactorSettings {
  explicit FactorSettings(const SettingValues& settings)
      : latent(static_cast<int64_t>(settings.at(kLatent.key))),
        scale_low(settings.at(kScaleLow.key)),
        scale_high(settings.at(kScaleHigh.key)),
        factor_variance(settings.at(kFactorVariance.key)),
        scale_each_sample(settings.at(kScaleEachSample.key) != 0.0),
        squash(kSquashNames.at(static_cast<size_t>(settings.at(kSquash.key))).second) {}

  /// For batches of so many.
  ScaleOptions scale(int64_t whole) const { return {scale_low, scale_high, scale_each_sample ? 1 : whole}; }

  int64_t latent;
  double scale_low, scale_high;
  double factor_variance;
  bool scale_each_sample;  ///< a draw for each image; else one for a batch, as the authors had it
  Squash squash;
};

/// float32, as it is drawn from, and the same in all processes.
FactorAnalysis fitted(const torch::Tensor& rows, const FactorSettings& settings, const OutsideContext& context) {
  FactorAnalysisOptions fit;
  fit.latent = std::min(settings.latent, rows.size(1));
  auto model = fit_factor_analysis(rows, fit, context.progress);
  for (auto* part : {&model.mean, &model.loading, &model.noise}) {
    *part = part->to(torch::kFloat32).contiguous();
    if (context.share) context.share(*part);
  }
  model.loading.mul_(std::sqrt(settings.factor_variance));
  return model;
}

void draw_on_cpu(const FactorImages& images, int64_t step) {
  parallel_rows(images.count, int64_t{images.dimensions} * images.latent, [&](int64_t begin, int64_t end) {
    std::vector<float> vector(2 * static_cast<size_t>(images.latent_pairs()));
    for (int64_t n = begin; n < end; ++n) {
      const auto image = images.image(step, n);
      for (int32_t pair = 0; pair < images.latent_pairs(); ++pair) images.draw_latent(image, pair, vector.data());
      for (int32_t pair = 0; pair < images.pixel_pairs(); ++pair) images.draw_pixels(image, pair, vector.data());
    }
  });
}

class FactorSource final : public OutsideSource, public OutsideStock {
 public:
  FactorSource(const SettingValues& settings, const OutsideContext& context)
      : settings_(settings),
        model_(fitted(to_unit_range(context.train.inputs.to(context.device)).flatten(1), settings_, context)),
        deviation_(model_.noise.sqrt()),
        shape_(image_shape(context.train)),
        seed_(context.seed) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    const SampleImagesOptions options{settings_.scale(batch.whole), settings_.squash,
                                      FactorImages::step_seed(seed_, batch.step)};
    return sample_images(model_, batch.whole, shape_, options).narrow(0, batch.first, batch.count);
  }

  Images images(const OutsideBatch& any) override {
    const auto there = model_.mean.options().dtype(torch::kUInt8);
    drawn_ = torch::zeros({any.count, shape_.channels, shape_.height, shape_.width}, there);
    kernel_ = {model_.mean.data_ptr<float>(),
               model_.loading.data_ptr<float>(),
               deviation_.data_ptr<float>(),
               static_cast<int32_t>(model_.loading.size(0)),
               static_cast<int32_t>(model_.loading.size(1)),
               static_cast<float>(settings_.scale_low),
               static_cast<float>(settings_.scale_high - settings_.scale_low),
               settings_.scale(any.whole).batch,
               settings_.squash == Squash::kClip,
               seed_,
               any.first,
               any.count,
               drawn_.data_ptr<uint8_t>()};
    return {drawn_, {}};
  }

  void draw(const int64_t* step) override {
#if defined(PRIORNET_CUDA)
    if (drawn_.is_cuda()) return launch_factor_images(kernel_, step, current_cuda_stream());
#endif
    draw_on_cpu(kernel_, *step);
  }

 private:
  FactorSettings settings_;
  FactorAnalysis model_;
  torch::Tensor deviation_;  ///< of the noise
  ImageShape shape_;
  uint64_t seed_;
  torch::Tensor drawn_;  ///< by the kernel
  FactorImages kernel_{};
};

// Rows float32 [count, D] with the covariance of the training set, inflated.
class FactorRows final : public OutsideSource {
 public:
  FactorRows(const SettingValues& settings, const OutsideContext& context)
      : settings_(settings),
        model_(fitted(context.train.inputs.to(context.device), settings_, context)),
        seed_(context.seed) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    const auto seed = seed_of_step(seed_, batch.step);
    auto rows = sample(model_, batch.whole, settings_.scale(batch.whole), seed);
    // Every other row lies far out, up to kFarthest times as far: networks grow sure of themselves where nothing held
    // them back.
    constexpr double kFarthest = 100.0;
    auto generator = make_generator(derive_seed(seed, "far out"));
    auto farther = torch::exp(std::log(kFarthest) * torch::rand({batch.whole, 1}, generator)).to(rows.device());
    farther.slice(0, 0, batch.whole, 2).fill_(1.0);
    rows = model_.mean + (rows - model_.mean) * farther;
    return rows.narrow(0, batch.first, batch.count);
  }

 private:
  FactorSettings settings_;
  FactorAnalysis model_;
  uint64_t seed_;
};

}  // namespace

OutlierSourceInfo factor_analysis_source() {
  return {.name = kFactorAnalysis,
          .summary = "a factor analysis of the training set, its variance inflated; of rows every other one far out",
          .settings = {kLatent, kScaleLow, kScaleHigh, kFactorVariance, kScaleEachSample, kSquash},
          .images = made_outside<FactorSource>,
          .rows = made_outside<FactorRows>,
          .refusal = [](const SettingValues& settings) -> std::string {
            return settings.at(kScaleLow.key) <= settings.at(kScaleHigh.key)
                       ? ""
                       : "outside.scale_low should be at most outside.scale_high";
          }};
}

}  // namespace priornet
