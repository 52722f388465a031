#include "learning/training/training_batches.h"

#include <fmt/format.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>

#include "learning/training/kernel_batches.h"
#include "learning/transforms/augmentation_kernels.h"
#include "uncertainty/core/checks.h"

namespace priornet {

const torch::Tensor& BatchOrder::pass(int64_t number) {
  if (number != held_) {
    const auto generator = make_generator(derive_seed(seed_, fmt::format("pass {}", number)));
    order_ = torch::randperm(size_, generator, torch::kInt64).to(device_);
    held_ = number;
  }
  return order_;
}

torch::Tensor BatchOrder::rows(int64_t first, int64_t count) {
  std::vector<torch::Tensor> parts;
  for (int64_t at = first; at < first + count;) {
    const auto within = at % size_;
    const auto taken = std::min(size_ - within, first + count - at);
    parts.push_back(pass(at / size_).narrow(0, within, taken));
    at += taken;
  }
  return parts.size() == 1 ? parts[0] : torch::cat(parts);
}

PassRing BatchOrder::ring(int64_t count) {
  // The most passes that `count` consecutive places can touch.
  const int64_t slots = (count + size_ - 2) / size_ + 1;
  if (!ring_.defined() || ring_.size(0) != slots) {
    ring_ = torch::zeros({slots, size_}, torch::TensorOptions(torch::kInt64).device(device_));
    slots_.assign(static_cast<size_t>(slots), -1);
  }
  return {ring_.data_ptr<int64_t>(), size_, slots};
}

void BatchOrder::hold(int64_t first, int64_t count) {
  for (int64_t number = first / size_; number <= (first + count - 1) / size_; ++number) {
    const auto slot = static_cast<size_t>(number) % slots_.size();
    if (slots_[slot] == number) continue;
    ring_.select(0, static_cast<int64_t>(slot)).copy_(pass(number));
    slots_[slot] = number;
  }
}

std::shared_ptr<RowStream> stream_in_order(const torch::Tensor& inputs, uint64_t seed, const torch::Device& device,
                                           const StepRows& rows) {
  // A separate order, because other threads ask for it.
  const auto order = std::make_shared<BatchOrder>(rows.chosen.defined() ? rows.chosen.size(0) : inputs.size(0), seed);
  return std::make_shared<RowStream>(
      RowStream::Options{inputs, rows.part.count, device, [order, rows](int64_t step) {
                           const auto places = order->rows(step * rows.whole + rows.part.first, rows.part.count);
                           return rows.chosen.defined() ? rows.chosen.index_select(0, places) : places;
                         }});
}

namespace {

bool augments(const AugmentationOptions& options) {
  return options.flip || options.shift > 0 || options.rotation_degrees > 0 || options.cutout > 0;
}

BatchSources sources_on(const torch::Device& device, const Dataset& train, OutsideSource* outside,
                        TrainingBatchesOptions options) {
  if (outside == nullptr) options.outside_batch = 0;
  for (const auto whole : {options.batch, options.outside_batch})
    check_range("TrainingBatches", "a batch", whole % options.share.processes == 0,
                fmt::format("a multiple of the {} processes", options.share.processes), static_cast<double>(whole));
  if (train.size() < options.batch)
    throw DataError(
        fmt::format("{}: has {} inputs, fewer than a batch of {}", train.name, train.size(), options.batch));
  if (!train.has_labels()) throw DataError(fmt::format("{}: has no labels to learn from", train.name));
  if (train.has_images()) static_cast<void>(plan_of(options.augmentation, image_shape(train)));
  const auto seed = derive_seed(options.seed, "order");
  const bool streamed = train.inputs.is_cpu() &&
                        (train.rows.defined() ||
                         options.streamed.value_or(!fits_on(device, static_cast<int64_t>(train.inputs.nbytes()))));
  BatchSources sources{streamed ? train.inputs.contiguous() : train.inputs.to(device).contiguous(),
                       train.labels.to(device).contiguous(), BatchOrder(train.size(), seed, device), outside, options};
  if (streamed)
    sources.stream = stream_in_order(sources.inputs, seed, device,
                                     {options.batch, part_of(options.batch, options.share), train.rows});
  return sources;
}

}  // namespace

TrainingBatches::TrainingBatches(const Dataset& train, OutsideSource* outside, const torch::Device& device,
                                 const TrainingBatchesOptions& options)
    : sources_(sources_on(device, train, outside, options)) {
  if (options.by_kernel && sources_.labels.is_cuda() && train.has_images())
    by_kernel_ = std::make_unique<KernelBatches>(sources_);
}

TrainingBatches::~TrainingBatches() = default;

torch::Tensor TrainingBatches::rows(int64_t step) {
  const auto whole = sources_.options.batch;
  const auto part = part_of(whole, sources_.options.share);
  return sources_.order.rows(step * whole + part.first, part.count);
}

// A stream overwrites its rows in later steps. Images are transformed before that, so they need no copy.
torch::Tensor TrainingBatches::inputs_of(const torch::Tensor& rows, int64_t step) {
  if (!sources_.stream) return sources_.inputs.index_select(0, rows);
  const auto inputs = sources_.stream->rows(step);
  return inputs.dim() == 4 ? inputs : inputs.clone();
}

torch::Tensor TrainingBatches::prepared(const torch::Tensor& images, const char* draws, int64_t step,
                                        int64_t whole) const {
  if (images.dim() != 4) return images;
  const auto& options = sources_.options;
  const auto part = part_of(whole, options.share);
  const auto seed = derive_seed(options.seed, draws);
  auto seen = images;
  if (augments(options.augmentation)) {
    // Drawn for the whole batch, so that the number of processes does not matter.
    auto parameters = draw_augmentation(whole, {images.size(1), images.size(2), images.size(3)}, options.augmentation,
                                        {seed, static_cast<uint64_t>(step)}, images.device());
    for (auto* drawn : {&parameters.flip, &parameters.shift, &parameters.rotation, &parameters.hole})
      *drawn = drawn->narrow(0, part.first, part.count);
    seen = augment(images, options.augmentation, parameters);
  }
  const auto inputs = to_unit_range(seen);
  if (options.noise == 0.0) return inputs;
  return add_gaussian_noise(inputs, {options.noise, seed, step * whole + part.first});
}

namespace {

// Into the memory of `held`, if it exists already.
void hold(torch::Tensor& held, const torch::Tensor& values) {
  if (held.defined())
    held.copy_(values);
  else if (values.defined())
    held = values.clone();
}

}  // namespace

void TrainingBatches::prepare(int64_t step) {
  if (by_kernel_) return by_kernel_->prepare(step);
  auto made = at(step);
  if (!made.inputs.is_cuda()) {
    batch_ = std::move(made);
    return;
  }
  hold(batch_.inputs, made.inputs);
  hold(batch_.targets.labels, made.targets.labels);
}

void TrainingBatches::make() {
  if (by_kernel_) by_kernel_->make();
}

const TrainingBatch& TrainingBatches::batch() const { return by_kernel_ ? by_kernel_->batch() : batch_; }

TrainingBatch TrainingBatches::at(int64_t step) {
  const auto& options = sources_.options;
  const auto indices = rows(step);
  TrainingBatch batch;
  batch.targets.labels = sources_.labels.index_select(0, indices);
  batch.inputs = prepared(inputs_of(indices, step), kInsideDraws, step, options.batch);
  if (options.outside_batch > 0) {
    const auto part = part_of(options.outside_batch, options.share);
    const auto outside = sources_.outside->batch({step, options.outside_batch, part.first, part.count});
    batch.inputs = torch::cat({batch.inputs, prepared(outside, kOutsideDraws, step, options.outside_batch)});
  }
  // contiguous() would keep the strides of one channel, and then gradients would not lie as the convolutions need them.
  if (options.channels_last && batch.inputs.dim() == 4)
    batch.inputs = batch.inputs.clone(torch::MemoryFormat::ChannelsLast);
  return batch;
}

}  // namespace priornet
