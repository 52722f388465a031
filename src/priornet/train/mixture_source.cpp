#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/seeds.h>
#include <priornet/data/transforms/random_subset.h>
#include <priornet/synthesis/shapes.h>
#include <priornet/train/mixture_source.h>

namespace priornet {
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

}  // namespace priornet
