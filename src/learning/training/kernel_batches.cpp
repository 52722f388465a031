#include "learning/training/kernel_batches.h"

#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/random.h>

#include "learning/transforms/augmentation_kernels.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

void make_on_cpu(const ImageBatch& images, const BatchRows& rows) {
  parallel_rows(images.images(), images.pixels(), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const auto image = images.image(n);
      for (int32_t pixel = 0; pixel < images.pixels(); ++pixel) images.fill(image, pixel);
    }
  });
  for (int64_t n = 0; n < rows.part.count; ++n) rows(n);
  ++*rows.step;
}

ImagePart part_with(const BatchSources& sources, int64_t whole, const char* draws) {
  const auto part = part_of(whole, sources.options.share);
  const auto seed = derive_seed(sources.options.seed, draws);
  return {nullptr, {}, whole, part.first, part.count, augmentation_seed(seed), additive_noise_seed(seed)};
}

OutsideBatch outside_batch(const BatchSources& sources, int64_t step) {
  const auto whole = sources.options.outside_batch;
  const auto part = part_of(whole, sources.options.share);
  return {step, whole, part.first, part.count};
}

// The batch of the last step prepared.
class CopiedStock final : public OutsideStock {
 public:
  explicit CopiedStock(OutsideSource& source) : source_(source) {}

  Images images(const OutsideBatch& any) override {
    copy_ = source_.batch(any).clone();
    return {copy_, {}};
  }
  void prepare(const OutsideBatch& batch) override { copy_.copy_(source_.batch(batch)); }

 private:
  OutsideSource& source_;
  torch::Tensor copy_;
};

}  // namespace

KernelBatches::KernelBatches(BatchSources& sources) : sources_(sources) {
  const auto& options = sources.options;
  const ImageShape shape{sources.inputs.size(1), sources.inputs.size(2), sources.inputs.size(3)};
  const auto there = torch::TensorOptions(sources.labels.device());
  step_ = torch::zeros({1}, there.dtype(torch::kInt64));
  images_.plan = plan_of(options.augmentation, shape);
  images_.noise = static_cast<float>(options.noise);
  images_.parts[0] = labels_.part = inside_part();
  if (sources.stream) {
    const auto& ring = sources.stream->ring();
    images_.parts[0].images = ring.data_ptr<uint8_t>();
    images_.parts[0].order = {nullptr, 0, ring.size(0)};
  }
  images_.parts[1] = outside_part();
  images_.step = step_.data_ptr<int64_t>();
  batch_.inputs =
      torch::empty({images_.images(), shape.channels, shape.height, shape.width},
                   there.dtype(options.bfloat16 ? torch::kBFloat16 : torch::kFloat32),
                   options.channels_last ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous);
  images_.inputs = batch_.inputs.data_ptr();
  images_.bfloat16 = options.bfloat16;
  images_.channel_stride = options.channels_last ? 1 : shape.height * shape.width;
  images_.pixel_stride = options.channels_last ? shape.channels : 1;
  rows_ = torch::zeros({images_.parts[0].count}, there.dtype(torch::kInt64));
  batch_.targets.labels = torch::zeros_like(rows_);
  labels_ = {labels_.part, sources.labels.data_ptr<int64_t>(), batch_.targets.labels.data_ptr<int64_t>(),
             rows_.data_ptr<int64_t>(), step_.data_ptr<int64_t>()};
}

ImagePart KernelBatches::inside_part() {
  auto part = part_with(sources_, sources_.options.batch, kInsideDraws);
  part.images = sources_.inputs.data_ptr<uint8_t>();  // if it is not streamed
  part.order = sources_.order.ring(part.count);
  return part;
}

ImagePart KernelBatches::outside_part() {
  auto part = part_with(sources_, sources_.options.outside_batch, kOutsideDraws);
  if (part.count == 0) return part;
  outside_ = dynamic_cast<OutsideStock*>(sources_.outside);
  if (outside_ == nullptr) {
    copies_ = std::make_unique<CopiedStock>(*sources_.outside);
    outside_ = copies_.get();
  }
  const auto stock = outside_->images(outside_batch(sources_, 0));
  part.images = stock.images.data_ptr<uint8_t>();
  part.order = stock.order;
  return part;
}

void KernelBatches::prepare(int64_t step) {
  const auto& inside = images_.parts[0];
  sources_.order.hold(inside.place(step, 0), inside.count);
  if (sources_.stream) sources_.stream->prepare(step);
  if (outside_ != nullptr) outside_->prepare(outside_batch(sources_, step));
  if (step != next_) step_.fill_(step);
  next_ = step + 1;
}

void KernelBatches::make() {
  if (outside_ != nullptr) outside_->draw(step_.data_ptr<int64_t>());
#if defined(PRIORNET_CUDA)
  if (step_.is_cuda()) return launch_batch(images_, labels_, current_cuda_stream());
#endif
  make_on_cpu(images_, labels_);
}

}  // namespace priornet
