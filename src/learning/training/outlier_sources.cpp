#include "learning/training/outlier_sources.h"

#include <fmt/format.h>
#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "learning/synthesis/made_up_images.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

torch::Tensor as_drawn_from(const torch::Tensor& part) { return part.to(torch::kFloat32).contiguous(); }

torch::Tensor widened(const torch::Tensor& loading, const OutsideOptions& options) {
  return options.factor_variance ? loading * std::sqrt(*options.factor_variance) : loading;
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

}  // namespace

FactorSource::FactorSource(const FactorAnalysis& model, const OutsideOptions& options, const ImageShape& shape,
                           uint64_t seed)
    : model_{as_drawn_from(model.mean), as_drawn_from(widened(model.loading, options)), as_drawn_from(model.noise), {}},
      options_(options),
      shape_(shape),
      seed_(seed),
      deviation_(model_.noise.sqrt()) {}

torch::Tensor FactorSource::batch(const OutsideBatch& batch) {
  SampleImagesOptions options;
  options.scale = {options_.scale_low, options_.scale_high, scale_batch(batch.whole)};
  options.squash = options_.squash;
  options.seed = FactorImages::step_seed(seed_, batch.step);
  return sample_images(model_, batch.whole, shape_, options).narrow(0, batch.first, batch.count);
}

OutsideSource::Stock FactorSource::stock(const OutsideBatch& any) {
  const auto there = model_.mean.options().dtype(torch::kUInt8);
  drawn_ = torch::zeros({any.count, shape_.channels, shape_.height, shape_.width}, there);
  kernel_ = {model_.mean.data_ptr<float>(),
             model_.loading.data_ptr<float>(),
             deviation_.data_ptr<float>(),
             static_cast<int32_t>(model_.loading.size(0)),
             static_cast<int32_t>(model_.loading.size(1)),
             static_cast<float>(options_.scale_low),
             static_cast<float>(options_.scale_high - options_.scale_low),
             scale_batch(any.whole),
             options_.squash == Squash::kClip,
             seed_,
             any.first,
             any.count,
             drawn_.data_ptr<uint8_t>()};
  return {drawn_, {}};
}

void FactorSource::draw(const int64_t* step) {
#if defined(PRIORNET_CUDA)
  if (drawn_.is_cuda()) return launch_factor_images(kernel_, step, current_cuda_stream());
#endif
  draw_on_cpu(kernel_, *step);
}

namespace {

constexpr int64_t kMostFactorDimensions = 3072;  // the covariance is a matrix of them
constexpr int64_t kKeptImages = 10'000;          // to cut tiles and take backgrounds from

class MixtureSource final : public OutsideSource {
 public:
  MixtureSource(const OutsideOptions& options, const OutsideContext& context)
      : shape_(image_shape(context.train)), device_(context.device), seed_(context.seed) {
    auto of_pixels = options;
    of_pixels.source = context.train.inputs[0].numel() <= kMostFactorDimensions ? kFactorAnalysis : kGaussianNoise;
    pixels_ = make_outside(of_pixels, context);
    const auto& train = context.train;
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

std::unique_ptr<OutsideSource> outside_mixture(const OutsideOptions& options, const OutsideContext& context) {
  return std::make_unique<MixtureSource>(options, context);
}

namespace {

constexpr double kFarthest = 100.0;

uint64_t row_seed(uint64_t seed, int64_t step) { return derive_seed(seed, fmt::format("step {}", step)); }

class FactorRows final : public OutsideSource {
 public:
  FactorRows(const OutsideOptions& options, const OutsideContext& context) : options_(options), seed_(context.seed) {
    FactorAnalysisOptions fit;
    fit.latent = std::min(options.latent, context.train.inputs.size(1));
    model_ = fit_factor_analysis(context.train.inputs.to(context.device), fit, context.progress);
    for (auto* part : {&model_.mean, &model_.loading, &model_.noise}) {
      *part = part->to(torch::kFloat32).contiguous();
      if (context.share) context.share(*part);
    }
    model_.loading = widened(model_.loading, options);
  }

  torch::Tensor batch(const OutsideBatch& batch) override {
    const ScaleOptions scale{options_.scale_low, options_.scale_high, options_.scale_each_sample ? 1 : batch.whole};
    const auto seed = row_seed(seed_, batch.step);
    auto rows = sample(model_, batch.whole, scale, seed);
    // Every other row lies far out, up to kFarthest times as far: networks grow sure of themselves where nothing held
    // them back.
    auto generator = make_generator(derive_seed(seed, "far out"));
    auto farther = torch::exp(std::log(kFarthest) * torch::rand({batch.whole, 1}, generator)).to(rows.device());
    farther.slice(0, 0, batch.whole, 2).fill_(1.0);
    rows = model_.mean + (rows - model_.mean) * farther;
    return rows.narrow(0, batch.first, batch.count);
  }

 private:
  OutsideOptions options_;
  uint64_t seed_;
  FactorAnalysis model_;
};

// Feature by feature: centre + width * a draw.
class NoiseRows final : public OutsideSource {
 public:
  NoiseRows(const OutsideOptions& options, const OutsideContext& context)
      : uniform_(options.source == kUniformNoise), device_(context.device), seed_(context.seed) {
    const auto& rows = context.train.inputs;
    if (uniform_) {
      const auto low = std::get<0>(rows.min(0));
      const auto high = std::get<0>(rows.max(0));
      centre_ = (low + high) / 2;
      width_ = 1.5 * (high - low);
    } else {
      centre_ = rows.mean(0);
      width_ = options.sigma * (rows - centre_).square().mean(0).sqrt();
    }
  }

  torch::Tensor batch(const OutsideBatch& batch) override {
    auto generator = make_generator(row_seed(seed_, batch.step));
    const std::vector<int64_t> shape = {batch.whole, centre_.size(0)};
    const auto draws = uniform_ ? 2 * torch::rand(shape, generator) - 1 : torch::randn(shape, generator);
    return (centre_ + width_ * draws.narrow(0, batch.first, batch.count)).to(device_);
  }

 private:
  bool uniform_;
  torch::Device device_;
  uint64_t seed_;
  torch::Tensor centre_;
  torch::Tensor width_;
};

}  // namespace

std::unique_ptr<OutsideSource> outside_rows(const OutsideOptions& options, const OutsideContext& context) {
  if (options.source == kFactorAnalysis) return std::make_unique<FactorRows>(options, context);
  if (options.source == kGaussianNoise || options.source == kUniformNoise)
    return std::make_unique<NoiseRows>(options, context);
  throw ConfigError(
      fmt::format("outside.source {} is for images, which {} has none of", options.source, context.train.name));
}

}  // namespace priornet
