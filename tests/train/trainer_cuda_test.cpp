#include <c10/cuda/CUDACachingAllocator.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_runs.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include "learning/base/gpu_modes.h"
#include "learning/training/training_step.h"

// Training on a GPU as a recorded graph gives the same as step by step, and the same as on a CPU.

namespace priornet {
namespace {

using Start = RunFolder::Start;

const torch::Device kCuda(torch::kCUDA, 0);

TrainerOptions on_cuda() {
  TrainerOptions options;
  options.device = kCuda;
  return options;
}

double loss_of(const RunFolder& run, int64_t epoch) { return metrics_of(run).at(static_cast<size_t>(epoch))["loss"]; }

TEST(CudaTrainer, DrawsTheSameNumbers) {
  EXPECT_TRUE(near(normal_draws(33, 7, {3, 5, kCuda}).cpu(), normal_draws(33, 7, {3, 5}), 1e-6));
  EXPECT_TRUE(near(uniform_draws(33, 7, {3, 5, kCuda}).cpu(), uniform_draws(33, 7, {3, 5}), 1e-6));
}

TEST(CudaTrainer, FollowsTheCpu) {
  auto config = small_config();
  config.model.keep_dense = 1.0;
  const TemporaryFolder folder;
  const RunFolder here(folder / "here", Start::kNew), there(folder / "there", Start::kNew);
  trained(config, here);
  trained(config, there, on_cuda());
  for (int64_t epoch = 0; epoch < 3; ++epoch) EXPECT_NEAR(loss_of(there, epoch), loss_of(here, epoch), 2e-2);
}

// Also with dropout: every replay of the graph draws new values.
TEST(CudaTrainer, LearnsWithEveryMethodAndPrecision) {
  for (const auto& method : methods())
    for (const auto precision : {Precision::kFloat32, Precision::kBFloat16}) {
      auto config = small_config(method.name);
      config.precision = precision;
      config.epochs = 6;
      const TemporaryFolder folder;
      const RunFolder run(folder / "run", Start::kNew);
      trained(config, run, on_cuda());
      EXPECT_LT(loss_of(run, 5), loss_of(run, 0));
      EXPECT_LT(metrics_of(run)[5]["validation"]["error"], 0.1);
    }
}

// A batch of rows of numbers is copied to the place that the graph reads.
TEST(CudaTrainer, ReplaysWhatItRecorded) {
  const CaptureStream stream(kCuda);
  auto train = small_images(320, 1);
  train.inputs = train.inputs.flatten(1).to(torch::kFloat32).div(128).sub(1);
  auto config = small_config("dnn");
  config.model = {};
  config.model.name = "mlp";
  config.model.keep_dense = 1.0;
  TrainingBatchesOptions options;
  options.batch = 16;
  const auto run = [&](bool captured) {
    TrainingBatches batches(train, nullptr, kCuda, options);
    auto network = make_model(model_for(config, train), make_generator(3));
    network->to(kCuda);
    FlatParameters parameters(network->parameters());
    const auto optimiser = Optimiser::make(parameters, config.optimiser, std::vector<double>(20, 1e-3));
    const TrainingStep::Options how{config.method, false, {}};
    const auto step = captured ? captured_step(*network, parameters, *optimiser, how)
                               : std::make_unique<TrainingStep>(*network, parameters, *optimiser, how);
    for (int64_t i = 0; i < 20; ++i) {
      step->run(batches, i);
      EXPECT_TRUE(batches.batch().inputs.equal(batches.at(i).inputs)) << i;
    }
    return std::pair(parameters.values.cpu(), step->sums().cpu());
  };
  const auto plain = run(false), replayed = run(true);
  EXPECT_TRUE(near(replayed.first, plain.first, 1e-4));
  EXPECT_TRUE(near(replayed.second, plain.second, 1e-3));
}

// Batch norm updates its own counts and means in every replay.
TEST(CudaTrainer, RecordsNetworksWithBatchNorm) {
  for (const auto* name : {"vgg6", "resnet18"}) {
    auto config = small_config("outlier-exposure");
    config.model = {};
    config.model.name = name;
    if (config.model.name == "vgg6") {
      config.model.blocks = {{8}, {16}};
      config.model.batch_norm = true;
    } else {
      config.model.channels = {8, 8, 16, 16};
    }
    config.epochs = 6;
    const TemporaryFolder folder;
    const RunFolder run(folder / "run", Start::kNew);
    trained(config, run, on_cuda());
    EXPECT_LT(metrics_of(run)[5]["validation"]["error"], 0.1) << name;
  }
}

TEST(CudaTrainer, GoesOnToRounding) {
  const TemporaryFolder folder;
  const RunFolder whole(folder / "whole", Start::kNew), part(folder / "part", Start::kNew);
  trained(small_config(), whole, on_cuda());
  auto options = on_cuda();
  int64_t steps = 0;
  options.stop = [&] { return ++steps == 17; };
  EXPECT_THROW(trained(small_config(), part, options), TrainingStopped);
  options.stop = {};
  options.resume = true;
  trained(small_config(), part, options);
  EXPECT_NEAR(loss_of(part, 2), loss_of(whole, 2), 1e-2);
}

TEST(CudaTrainer, SaysWhichBatchesFoundNoMemory) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  auto config = small_config();
  config.batch = 16;
  config.outside_batch = 8;
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  allocator::emptyCache();
  allocator::setMemoryFraction(1e-6, 0);
  EXPECT_THROWS(Error, trained(config, run, on_cuda()),
                "out of memory on cuda:0 with batches of 16 + 8: set training.batch and training.outside_batch lower");
  allocator::setMemoryFraction(1.0, 0);
}

TEST(CudaTrainer, NamesTheStepWhoseLossIsNotFinite) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  try {
    trained(diverging_config(), run, on_cuda());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("the loss is not finite at step 1:")) << error.what();
  }
}

}  // namespace
}  // namespace priornet
