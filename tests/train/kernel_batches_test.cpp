#include "learning/training/kernel_batches.h"
#include <priornet/learning/factor_analysis.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_images.h>
#include <testing/tensors.h>
#include "learning/training/training_batches.h"

// The kernel that makes batches on a GPU makes the same batches as tensor operations. The kernel's functions run here
// on the CPU; tests/train/step_cuda_test.cpp runs the kernel.

namespace priornet {
namespace {

// The size of the set is not a multiple of the batch, so passes end in the middle of batches.
std::unique_ptr<OutsideSource> other_images(int64_t count) {
  return outside_images(torch::randint(256, {count, 3, 12, 12}, make_generator(9), torch::kUInt8), 5);
}

// A source that draws new images for each batch.
class DrawnImages final : public OutsideSource {
 public:
  torch::Tensor batch(const OutsideBatch& batch) override {
    const auto whole =
        torch::randint(256, {batch.whole, 3, 12, 12}, make_generator(static_cast<uint64_t>(batch.step)), torch::kUInt8);
    return whole.narrow(0, batch.first, batch.count);
  }
};

Dataset images_of_twelve() {
  auto set = small_images(50, 1);
  set.inputs = torch::randint(256, {50, 3, 12, 12}, make_generator(2), torch::kUInt8);
  return set;
}

TrainingBatchesOptions options_with(const AugmentationOptions& augmentation) {
  TrainingBatchesOptions options;
  options.batch = 16;
  options.outside_batch = 24;
  options.augmentation = augmentation;
  options.seed = 3;
  return options;
}

BatchSources sources_of(const Dataset& set, OutsideSource& outside, const TrainingBatchesOptions& options) {
  return {set.inputs, set.labels, BatchOrder(set.size(), derive_seed(options.seed, "order")), &outside, options};
}

// The steps go through 50 rows several times, and jump as in a resumed run.
void expect_same_batches(OutsideSource& outside, const TrainingBatchesOptions& options, double tolerance = 0) {
  const auto set = images_of_twelve();
  auto sources = sources_of(set, outside, options);
  TrainingBatches plain(set, &outside, torch::kCPU, options);
  KernelBatches kernel(sources);
  for (const int64_t step : {0, 1, 2, 3, 4, 5, 6, 7, 40, 41, 12}) {
    const auto wanted = plain.at(step);
    kernel.prepare(step);
    kernel.make();
    const auto& found = kernel.batch();
    EXPECT_TRUE(found.targets.labels.equal(wanted.targets.labels)) << step;
    EXPECT_EQ(found.inputs.strides(), wanted.inputs.strides());
    if (tolerance == 0)
      EXPECT_TRUE(found.inputs.equal(wanted.inputs)) << step;
    else
      EXPECT_TRUE(near(found.inputs, wanted.inputs, tolerance)) << step;
  }
}

TEST(KernelBatches, AreThoseOfTensorOperations) {
  const auto outside = other_images(37);
  for (const double degrees : {0.0, 25.0})
    for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear})
      for (const bool reflect : {false, true})
        for (const int64_t cutout : {0, 5})
          expect_same_batches(*outside, options_with({true, 3, degrees, resampling, reflect, cutout}));
  expect_same_batches(*outside, options_with({}));
}

TEST(KernelBatches, GoRoundASetSmallerThanABatch) {
  const auto outside = other_images(7);
  expect_same_batches(*outside, options_with({.flip = true}));
}

TEST(KernelBatches, TakeImagesThatAreDrawn) {
  DrawnImages outside;
  expect_same_batches(outside, options_with({.flip = true, .shift = 2}));
}

// A sum in another order can round to the next grey level.
TEST(KernelBatches, DrawFromFactorAnalysis) {
  const auto set = images_of_twelve();
  for (const bool each : {false, true})
    for (const int64_t latent : {3, 4}) {
      OutsideOptions factors;
      factors.settings["latent"] = static_cast<double>(latent);
      factors.settings["scale_each_sample"] = each ? 1 : 0;
      factors.settings["squash"] = static_cast<double>(each ? Squash::kClip : Squash::kTanh);
      NoProgress progress;
      const auto outside = make_outside(factors, {set, torch::kCPU, 7, progress, {}});
      auto options = options_with({});
      options.share = {1, 2};
      auto sources = sources_of(set, *outside, options);
      TrainingBatches plain(set, outside.get(), torch::kCPU, options);
      KernelBatches kernel(sources);
      for (const int64_t step : {0, 9, 10, 1234}) {
        kernel.prepare(step);
        kernel.make();
        const auto apart = (kernel.batch().inputs - plain.at(step).inputs).abs();
        EXPECT_LT(apart.max().item<double>(), 1.01 / 127.5) << step;
        EXPECT_LT(apart.mean().item<double>(), 1e-5) << step;
      }
    }
}

TEST(KernelBatches, CarryTheSameNoise) {
  const auto outside = other_images(37);
  auto options = options_with({.shift = 1});
  options.noise = 0.5;
  expect_same_batches(*outside, options, 1e-6);
}

TEST(KernelBatches, AreSharedOutAlike) {
  for (const int64_t rank : {0, 1}) {
    const auto outside = other_images(37);
    auto options = options_with({.flip = true, .shift = 2, .rotation_degrees = 10});
    options.share = {rank, 2};
    expect_same_batches(*outside, options);
  }
}

TEST(KernelBatches, LieInMemoryAsAsked) {
  const auto outside = other_images(37);
  auto options = options_with({.flip = true, .shift = 2});
  options.channels_last = true;
  expect_same_batches(*outside, options);
}

TEST(KernelBatches, RoundToBfloat16AsTensorsDo) {
  const auto outside = other_images(37);
  auto options = options_with({.flip = true});
  options.noise = 0.3;
  const auto set = images_of_twelve();
  auto sources = sources_of(set, *outside, options);
  KernelBatches whole(sources);
  auto halved = sources_of(set, *outside, options);
  halved.options.bfloat16 = true;
  KernelBatches half(halved);
  for (auto* batches : {&whole, &half}) {
    batches->prepare(5);
    batches->make();
  }
  EXPECT_TRUE(half.batch().inputs.equal(whole.batch().inputs.to(torch::kBFloat16)));
}

}  // namespace
}  // namespace priornet
