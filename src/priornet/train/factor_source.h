#pragma once

#include <priornet/synthesis/factor_images.h>
#include <priornet/synthesis/factor_samples.h>
#include <priornet/train/outside.h>

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

}  // namespace priornet
