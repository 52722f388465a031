#include <priornet/train/factor_source.h>

#include <priornet/core/device.h>
#include <priornet/core/parallel.h>

#include <vector>

namespace priornet {
namespace {

torch::Tensor as_drawn_from(const torch::Tensor& part) { return part.to(torch::kFloat32).contiguous(); }

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
    : model_{as_drawn_from(model.mean), as_drawn_from(model.loading), as_drawn_from(model.noise), {}},
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

}  // namespace priornet
