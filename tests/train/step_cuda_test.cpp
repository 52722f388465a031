#include <priornet/uncertainty/random.h>
#include <testing/small_runs.h>
#include <testing/tensors.h>
#include <torch/cuda.h>

#include "learning/base/gpu_modes.h"
#include "learning/training/row_stream.h"
#include "learning/training/training_step.h"

// Our own kernels in a training step on a GPU: the batch and the update, both within the graph.

namespace priornet {
namespace {

const torch::Device kGpu(torch::kCUDA, 0);

// Gradients pull towards 1, so an error of one step shows in the next.
torch::Tensor optimised_on(const torch::Device& device, const OptimiserOptions& options, int64_t size, int64_t steps) {
  auto p = torch::randn({size}, make_generator(1)).to(device).requires_grad_();
  FlatParameters flat({p});
  const auto optimiser = Optimiser::make(flat, options, std::vector<double>(static_cast<size_t>(steps), 1e-3));
  for (int64_t step = 0; step < steps; ++step) {
    const auto noise = torch::randn({size}, make_generator(static_cast<uint64_t>(step))).to(device);
    p.mutable_grad().copy_((p.detach() - 1.0) * 3.0 + noise);
    optimiser->step();
  }
  EXPECT_EQ(optimiser->state().back().values.item<int64_t>(), steps);
  const auto norm = flat.gradients.to(torch::kFloat64).norm().item<double>();
  EXPECT_NEAR(optimiser->gradient_norm().item<double>(), norm, 1e-9 * norm);
  return p.detach().cpu();
}

TEST(CudaOptimiser, FollowsTheCpuOverAThousandSteps) {
  for (const auto& rule : optimisers()) {
    OptimiserOptions options;
    options.name = rule.name;
    options.clip = 5.0;
    options.weight_decay = 1e-2;
    for (const int64_t size : {3, 5'001})
      EXPECT_TRUE(near(optimised_on(kGpu, options, size, 1000), optimised_on(torch::kCPU, options, size, 1000), 2e-5));
  }
}

TEST(CudaOptimiser, UpdatesManyParametersAlikeEveryTime) {
  OptimiserOptions options;
  options.clip = 1.0;
  const auto once = optimised_on(kGpu, options, 3'000'001, 3);
  EXPECT_TRUE(once.equal(optimised_on(kGpu, options, 3'000'001, 3)));
  EXPECT_TRUE(near(once, optimised_on(torch::kCPU, options, 3'000'001, 3), 1e-5));
}

Dataset rgb_images(int64_t count, uint64_t seed) {
  auto set = small_images(count, seed);
  set.inputs = torch::randint(256, {count, 3, 9, 13}, make_generator(seed), torch::kUInt8);
  return set;
}

TrainingBatchesOptions batches_with(const AugmentationOptions& augmentation) {
  TrainingBatchesOptions options;
  options.batch = 16;
  options.outside_batch = 16;
  options.augmentation = augmentation;
  options.seed = 3;
  options.channels_last = true;
  return options;
}

std::unique_ptr<OutsideSource> outside_of(const Dataset& set, const std::string& source, const torch::Device& device) {
  OutsideOptions options;
  options.source = source;
  options.settings["latent"] = 3;
  NoProgress progress;
  return make_outside(options, {set, device, 7, progress, {}});
}

// 50 rows: passes end in the middle of batches.
TEST(CudaBatches, AreThoseOfTheCpu) {
  const auto set = rgb_images(50, 1);
  const auto here_outside = outside_of(set, kUniformNoise, torch::kCPU),
             there_outside = outside_of(set, kUniformNoise, kGpu);
  for (const double degrees : {0.0, 25.0})
    for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear})
      for (const bool reflect : {false, true}) {
        const auto options = batches_with({true, 3, degrees, resampling, reflect, 5});
        TrainingBatches here(set, here_outside.get(), torch::kCPU, options);
        TrainingBatches there(set, there_outside.get(), kGpu, options);
        for (const int64_t step : {0, 1, 2, 3, 4, 5, 6, 7, 20, 21}) {
          const auto wanted = here.at(step);
          there.prepare(step);
          there.make();
          const auto& found = there.batch();
          EXPECT_TRUE(found.inputs.cpu().equal(wanted.inputs)) << step << ", " << degrees;
          EXPECT_TRUE(found.targets.labels.cpu().equal(wanted.targets.labels)) << step;
        }
      }
}

// Both sets stay on the host. The test keeps the device busy, so that copies that come too early, or slots that are
// filled too early, give wrong batches.
TEST(CudaBatches, AreTheSameWhereTheSetsStayOnTheHost) {
  const CaptureStream stream(kGpu);
  const auto set = rgb_images(50, 1);
  const auto other = rgb_images(37, 2).inputs;
  const auto here_outside = outside_images(other, 5), there_outside = outside_images(other, 5, kGpu);
  auto options = batches_with({.flip = true, .shift = 2, .rotation_degrees = 20});
  TrainingBatches here(set, here_outside.get(), torch::kCPU, options);
  options.streamed = true;
  TrainingBatches there(set, there_outside.get(), kGpu, options);
  const auto busy = torch::randn({2048, 2048}, kGpu);
  std::vector<std::pair<int64_t, torch::Tensor>> found;
  const auto take = [&](int64_t step) {
    there.prepare(step);
    for (int i = 0; i < 8; ++i) static_cast<void>(busy.matmul(busy));
    there.make();
    found.emplace_back(step,
                       torch::cat({there.batch().inputs.flatten(), there.batch().targets.labels.to(torch::kFloat32)}));
  };
  for (int64_t step = 0; step < 60; ++step) take(step);
  for (const int64_t step : {100, 101, 7, 8, 9, 9}) take(step);
  for (const auto& [step, values] : found) {
    const auto wanted = here.at(step);
    EXPECT_TRUE(values.cpu().equal(torch::cat({wanted.inputs.flatten(), wanted.targets.labels.to(torch::kFloat32)})))
        << step;
  }
}

// A new ring may get memory that earlier work in the stream has yet to read, and copies run on a stream of their own.
TEST(CudaRowStream, WaitsForEarlierWorkInItsMemory) {
  const auto set = torch::full({4096, 1024}, 8.0f);
  const auto on_gpu = torch::TensorOptions(kGpu).dtype(torch::kFloat32);
  auto product = torch::randn({4096, 4096}, on_gpu);
  torch::cuda::synchronize();
  const auto zeros_read_late = [&] {
    const auto before = torch::zeros({2, 4096, 1024}, on_gpu);                        // as large as the ring
    for (int i = 0; i < 50; ++i) product = torch::mm(product, product).clamp(-1, 1);  // tens of milliseconds
    return before.sum();
  }();
  RowStream stream({set, 4096, kGpu, [](int64_t) { return torch::arange(4096); }});
  EXPECT_EQ(stream.rows(0).sum().item<double>(), 8.0 * 4096 * 1024);
  EXPECT_EQ(zeros_read_late.item<double>(), 0.0);
}

TEST(CudaBatches, CarryNoiseAndDrawnOutliers) {
  const auto set = rgb_images(50, 1);
  const auto outside = outside_of(set, kFactorAnalysis, kGpu);
  auto options = batches_with({.flip = true, .shift = 2});
  options.noise = 0.5;
  TrainingBatches there(set, outside.get(), kGpu, options);
  for (const int64_t step : {0, 3, 4}) {
    there.prepare(step);
    there.make();
    const auto wanted = there.at(step).inputs.cpu();
    const auto found = there.batch().inputs.cpu();
    EXPECT_TRUE(near(found.narrow(0, 0, 16), wanted.narrow(0, 0, 16), 1e-5)) << step;
    // A sum in another order can round to the next grey level.
    EXPECT_LT((found - wanted).abs().mean().item<double>(), 1e-3) << step;
  }
}

// The batch of the graph is still there after each step.
TEST(CudaStep, MakesItsBatchesWithinTheGraph) {
  const CaptureStream stream(kGpu);
  const auto sets = small_sets();
  const auto config = small_config();
  const auto outside = outside_of(sets.train, kUniformNoise, kGpu);
  auto options = batches_with(config.augmentation);
  options.batch = 48;  // of 320: passes end within batches
  const auto run = [&](const TrainingStep::Options& how, bool captured, bool streamed) {
    options.streamed = streamed;
    TrainingBatches batches(sets.train, outside.get(), kGpu, options);
    auto model = model_for(config, sets.train);
    model.keep_dense = 1.0;
    auto network = make_model(model, make_generator(3));
    network->to(kGpu);
    FlatParameters parameters(network->parameters());
    const auto optimiser = Optimiser::make(parameters, config.optimiser, std::vector<double>(20, 1e-3));
    const auto step = captured ? captured_step(*network, parameters, *optimiser, how)
                               : std::make_unique<TrainingStep>(*network, parameters, *optimiser, how);
    std::vector<torch::Tensor> seen;
    for (int64_t i = 0; i < 20; ++i) {
      step->run(batches, i);
      seen.push_back(batches.batch().inputs.cpu());
      EXPECT_TRUE(seen.back().equal(batches.at(i).inputs.cpu()) || near(seen.back(), batches.at(i).inputs.cpu(), 1e-6))
          << i;
    }
    return std::pair(parameters.values.cpu(), step->sums().cpu());
  };
  TrainingStep::Options untaught{config.method, false, {}}, taught = untaught;
  taught.teacher = [&](const torch::Tensor& inputs) {
    const auto classes = static_cast<int64_t>(sets.train.class_names.size());
    return torch::softmax(inputs.flatten(1).slice(1, 0, classes).to(torch::kFloat32), 1);
  };
  for (const auto& how : {untaught, taught}) {
    const auto plain = run(how, false, false);
    for (const bool streamed : {false, true}) {
      const auto replayed = run(how, true, streamed);
      EXPECT_TRUE(near(replayed.first, plain.first, 1e-4)) << streamed << bool(how.teacher);
      EXPECT_TRUE(near(replayed.second, plain.second, 1e-3)) << streamed << bool(how.teacher);
      EXPECT_EQ(replayed.second[kCount].item<double>(), 20.0);
    }
  }
}

}  // namespace
}  // namespace priornet
