#include <priornet/learning/outliers.h>

#include <fmt/format.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include "learning/synthesis/made_up_images.h"
#include "learning/training/batch_order.h"
#include "learning/training/outlier_sources.h"

namespace priornet {
namespace {

uint64_t seed_of_step(uint64_t seed, int64_t step) { return derive_seed(seed, fmt::format("step {}", step)); }

// Another set, gone through in an order of its own, again and again.
class SetSource final : public OutsideSource {
 public:
  SetSource(torch::Tensor images, uint64_t seed)
      : images_(images.contiguous()), order_(images_.size(0), seed, images_.device()) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    return images_.index_select(0, order_.rows(batch.step * batch.whole + batch.first, batch.count));
  }

  Stock stock(const OutsideBatch& any) override { return {images_, order_.ring(any.count)}; }

  void prepare(const OutsideBatch& batch) override { order_.hold(batch.step * batch.whole + batch.first, batch.count); }

 private:
  torch::Tensor images_;
  BatchOrder order_;
};

class NoiseSource final : public OutsideSource {
 public:
  NoiseSource(const OutsideOptions& options, const OutsideContext& context)
      : options_(options), shape_(image_shape(context.train)), device_(context.device), seed_(context.seed) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    const DrawOptions draw{seed_of_step(seed_, batch.step), batch.first, device_};
    return options_.source == kUniformNoise ? uniform_noise_images(batch.count, shape_, draw)
                                            : gaussian_noise_images(batch.count, shape_, draw, options_.sigma);
  }

 private:
  OutsideOptions options_;
  ImageShape shape_;
  torch::Device device_;
  uint64_t seed_;
};

FactorAnalysis fitted(const OutsideOptions& options, const OutsideContext& context) {
  const auto rows = to_unit_range(context.train.inputs.to(context.device)).flatten(1);
  FactorAnalysisOptions fit;
  fit.latent = options.latent;
  auto model = fit_factor_analysis(rows, fit, context.progress);
  for (auto* part : {&model.mean, &model.loading, &model.noise}) {
    *part = part->to(torch::kFloat32).contiguous();  // as it is drawn from
    if (context.share) context.share(*part);
  }
  return model;
}

}  // namespace

OutsideSource::Stock OutsideSource::stock(const OutsideBatch& any) {
  made_ = batch(any).clone();
  return {made_, {}};
}

void OutsideSource::prepare(const OutsideBatch& batch_of_step) { made_.copy_(batch(batch_of_step)); }

std::unique_ptr<OutsideSource> outside_images(torch::Tensor images, uint64_t seed) {
  return std::make_unique<SetSource>(std::move(images), seed);
}

bool is_set(const std::string& source) {
  return source != kFactorAnalysis && source != kGaussianNoise && source != kUniformNoise && source != kMixture;
}

std::unique_ptr<OutsideSource> make_outside(const OutsideOptions& options, const OutsideContext& context) {
  if (!context.train.has_images()) return outside_rows(options, context);
  if (options.source == kFactorAnalysis)
    return std::make_unique<FactorSource>(fitted(options, context), options, image_shape(context.train), context.seed);
  if (options.source == kGaussianNoise || options.source == kUniformNoise)
    return std::make_unique<NoiseSource>(options, context);
  if (options.source == kMixture) return outside_mixture(options, context);
  LoadOptions load;
  load.progress = &context.progress;
  auto images = fit_to(load_set(options.source, load), image_shape(context.train)).inputs.to(context.device);
  if (const auto added = options.added.value_or(0); added > 0)
    images = torch::cat({images, outside_mixture(options, context)->batch({0, added, 0, added})});
  return outside_images(std::move(images), context.seed);
}

}  // namespace priornet
