#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/seeds.h>
#include <priornet/train/row_source.h>

#include <algorithm>
#include <cmath>

namespace priornet {
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
