#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/core/seeds.h>
#include <priornet/data/transforms/additive_noise.h>
#include <priornet/data/transforms/fitting.h>
#include <priornet/data/transforms/pixels.h>
#include <priornet/train/training_batches.h>

namespace priornet {
namespace {

struct Part {
  int64_t first;
  int64_t count;
};

Part part_of(int64_t whole, const BatchShare& share) {
  const auto count = whole / share.processes;
  return {share.rank * count, count};
}

bool augments(const AugmentationOptions& options) {
  return options.flip || options.shift > 0 || options.rotation_degrees > 0 || options.cutout > 0;
}

}  // namespace

TrainingBatches::TrainingBatches(const Dataset& train, torch::Tensor teacher, OutsideSource* outside,
                                 const torch::Device& device, const TrainingBatchesOptions& options)
    : train_(train),
      outside_(outside),
      device_(device),
      options_(options),
      order_(train.size(), derive_seed(options.seed, "order"), device) {
  if (outside_ == nullptr) options_.outside_batch = 0;
  for (const auto whole : {options_.batch, options_.outside_batch})
    check_range("TrainingBatches", "a batch", whole % options.share.processes == 0,
                fmt::format("a multiple of the {} processes", options.share.processes), static_cast<double>(whole));
  if (train.size() < options.batch)
    throw DataError(
        fmt::format("{}: has {} inputs, fewer than a batch of {}", train.name, train.size(), options.batch));
  if (!train.has_labels()) throw DataError(fmt::format("{}: has no labels to learn from", train.name));
  inputs_ = train.inputs.to(device);
  labels_ = train.labels.to(device);
  if (teacher.defined()) teacher_ = teacher.to(device);
}

torch::Tensor TrainingBatches::rows(int64_t step) {
  const auto part = part_of(options_.batch, options_.share);
  return order_.rows(step * options_.batch + part.first, part.count);
}

// `purpose` keeps the draws for the two parts of a batch apart.
torch::Tensor TrainingBatches::prepared(const torch::Tensor& images, const char* purpose, int64_t step,
                                        int64_t whole) const {
  if (images.dim() != 4) return images;
  const auto part = part_of(whole, options_.share);
  const auto seed = derive_seed(options_.seed, purpose);
  auto seen = images;
  if (augments(options_.augmentation)) {
    // Drawn for the whole batch, so that it does not matter how many share it.
    auto draws = draw_augmentation(whole, {images.size(1), images.size(2), images.size(3)}, options_.augmentation,
                                   {seed, static_cast<uint64_t>(step)}, device_);
    for (auto* draw : {&draws.flip, &draws.shift, &draws.rotation, &draws.hole})
      *draw = draw->narrow(0, part.first, part.count);
    seen = augment(images, options_.augmentation, draws);
  }
  const auto inputs = to_unit_range(seen);
  if (options_.noise == 0.0) return inputs;
  return add_gaussian_noise(inputs, {options_.noise, seed, step * whole + part.first});
}

TrainingBatches::Batch TrainingBatches::at(int64_t step) {
  const auto indices = rows(step);
  Batch batch;
  batch.targets.labels = labels_.index_select(0, indices);
  if (teacher_.defined()) batch.targets.teacher = teacher_.index_select(0, indices);
  batch.inputs = prepared(inputs_.index_select(0, indices), "inside", step, options_.batch);
  if (options_.outside_batch == 0) return batch;
  const auto part = part_of(options_.outside_batch, options_.share);
  const auto outside = outside_->batch({step, options_.outside_batch, part.first, part.count});
  batch.inputs = torch::cat({batch.inputs, prepared(outside, "outside", step, options_.outside_batch)});
  return batch;
}

}  // namespace priornet
