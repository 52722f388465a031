#pragma once

#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/outliers.h>

#include "learning/synthesis/factor_images.h"

namespace priornet {

/// Draws from a factor analysis, of float32 where they are wanted.
class FactorSource final : public OutsideSource {
 public:
  FactorSource(const FactorAnalysis& model, const OutsideOptions& options, const ImageShape& shape, uint64_t seed);

  torch::Tensor batch(const OutsideBatch& batch) override;
  Stock stock(const OutsideBatch& any) override;
  void prepare(const OutsideBatch&) override {}
  void draw(const int64_t* step) override;

 private:
  int64_t scale_batch(int64_t whole) const { return options_.scale_each_sample ? 1 : whole; }

  FactorAnalysis model_;
  OutsideOptions options_;
  ImageShape shape_;
  uint64_t seed_;
  torch::Tensor deviation_;  ///< of the noise
  torch::Tensor drawn_;      ///< by the kernel
  FactorImages kernel_{};
};

/// A quarter of each batch from a factor analysis of the training images (or Gaussian noise where they have too many
/// pixels for one), a half random shapes in front of their backgrounds, a quarter their tiles in another order:
/// what a network learns to be outside should be of many kinds. ConfigError where the training set holds no images.
std::unique_ptr<OutsideSource> outside_mixture(const OutsideOptions& options, const OutsideContext& context);

/// What is outside for rows of numbers, float32 [count, D], around those of the training set and beyond:
/// factor-analysis has their covariance, inflated by a draw from [scale_low, scale_high], and every other row up to 100
/// times as far out; gaussian-noise is normal
/// around their mean, `sigma` times as wide as they are, feature by feature; uniform-noise fills a box three times as
/// wide as their range. ConfigError for another source.
std::unique_ptr<OutsideSource> outside_rows(const OutsideOptions& options, const OutsideContext& context);

}  // namespace priornet
