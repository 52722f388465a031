#include "learning/training/row_stream.h"
#include <priornet/learning/inference.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_runs.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <array>
#include <cstdlib>

#include "learning/training/kernel_batches.h"

// Sets that stay on the host give the same batches as sets on the device. This test runs everything on a CPU except for
// the copies to a GPU; tests/train/step_cuda_test.cpp tests those.

namespace priornet {
namespace {

/// While this object lives, no set fits into memory.
struct NoRoom {
  NoRoom() { ::setenv("PRIORNET_MEMORY", "1", 1); }
  ~NoRoom() { ::unsetenv("PRIORNET_MEMORY"); }
};

torch::Tensor some_rows(int64_t step) { return torch::tensor({step % 7, (step * 3) % 7, int64_t{6}}, torch::kInt64); }

TEST(RowStream, HoldsTheRowsOfEachStep) {
  const auto set = torch::randint(256, {7, 2, 5}, make_generator(1), torch::kUInt8);
  RowStream stream({set, 3, torch::kCPU, some_rows});
  for (const int64_t step : {0, 1, 2, 3, 3, 4, 5, 9, 10, 1000, 1001, 7, 8, 0, 2}) {
    EXPECT_TRUE(stream.rows(step).equal(set.index_select(0, some_rows(step)))) << step;
    EXPECT_TRUE(stream.ring()[step % stream.ring().size(0)].equal(set.index_select(0, some_rows(step)))) << step;
  }
  const auto* memory = stream.ring().data_ptr();
  for (int64_t step = 0; step < 500; ++step)
    ASSERT_TRUE(stream.rows(step).equal(set.index_select(0, some_rows(step)))) << step;
  EXPECT_EQ(stream.ring().data_ptr(), memory);
}

TEST(RowStream, EndsWhereItIsToldTo) {
  const auto set = torch::arange(10, torch::kFloat32).unsqueeze(1);
  int64_t last = -1;
  {
    const auto rows_of = [&](int64_t step) {
      last = std::max(last, step);
      return torch::arange(4 * step, std::min<int64_t>(4 * step + 4, 10), torch::kInt64);
    };
    RowStream stream({set, 4, torch::kCPU, rows_of, 3});
    for (int64_t step = 0; step < 3; ++step)
      EXPECT_TRUE(stream.rows(step).equal(set.slice(0, 4 * step, 4 * step + 4))) << step;
  }
  EXPECT_EQ(last, 2);
}

TEST(RowStream, SaysWhatWentWrong) {
  const auto rows_of = [](int64_t step) -> torch::Tensor {
    if (step == 5) throw DataError("row five is gone");
    return torch::zeros({1}, torch::kInt64);
  };
  RowStream stream({torch::zeros({3, 2}), 1, torch::kCPU, rows_of});
  for (int64_t step = 0; step < 2; ++step) stream.prepare(step);
  EXPECT_THROWS(DataError, stream.prepare(5), "row five is gone");
}

Dataset images_and_labels(int64_t count) {
  auto set = small_images(count, 1);
  set.inputs = torch::randint(256, {count, 3, 12, 12}, make_generator(2), torch::kUInt8);
  return set;
}

TrainingBatchesOptions streaming_options(bool streamed) {
  TrainingBatchesOptions options;
  options.batch = 16;
  options.outside_batch = 8;
  options.augmentation = {.flip = true, .shift = 2, .rotation_degrees = 10};
  options.noise = 0.1;
  options.seed = 3;
  options.channels_last = true;
  options.streamed = streamed;
  return options;
}

constexpr std::array<int64_t, 12> kAskedSteps = {0, 1, 2, 3, 4, 5, 6, 7, 40, 41, 42, 12};

TEST(StreamedBatches, AreThoseOfAResidentSet) {
  for (const int64_t rank : {0, 1}) {
    const auto set = images_and_labels(50);
    auto source = outside_images(torch::randint(256, {37, 3, 12, 12}, make_generator(9), torch::kUInt8), 5);
    auto resident_options = streaming_options(false), streamed_options = streaming_options(true);
    resident_options.share = streamed_options.share = {rank, 2};
    TrainingBatches resident(set, source.get(), torch::kCPU, resident_options);
    TrainingBatches streamed(set, source.get(), torch::kCPU, streamed_options);
    for (const auto step : kAskedSteps) {
      resident.prepare(step);
      resident.make();
      streamed.prepare(step);
      streamed.make();
      EXPECT_TRUE(streamed.batch().inputs.equal(resident.batch().inputs)) << step;
      EXPECT_TRUE(streamed.batch().targets.labels.equal(resident.batch().targets.labels)) << step;
      EXPECT_TRUE(streamed.rows(step).equal(resident.rows(step))) << step;
    }
  }
}

TEST(StreamedBatches, OfRowsOfNumbersMayBeKept) {
  const Dataset set{"rows", torch::randn({40, 3}, make_generator(4)), torch::arange(40) % 2, {"a", "b"}, {}};
  auto resident_options = streaming_options(false), streamed_options = streaming_options(true);
  TrainingBatches resident(set, nullptr, torch::kCPU, resident_options);
  TrainingBatches streamed(set, nullptr, torch::kCPU, streamed_options);
  std::vector<torch::Tensor> kept;
  for (const auto step : kAskedSteps) kept.push_back(streamed.at(step).inputs);
  for (size_t i = 0; i < kept.size(); ++i)
    EXPECT_TRUE(kept[i].equal(resident.at(kAskedSteps[i]).inputs)) << kAskedSteps[i];
}

// Batches as a GPU makes them: the kernel finds the slot of its step by itself.
TEST(StreamedBatches, AreMadeByTheKernel) {
  const auto set = images_and_labels(50);
  const auto images = torch::randint(256, {37, 3, 12, 12}, make_generator(9), torch::kUInt8);
  const auto options = streaming_options(true);
  auto resident_source = outside_images(images, 5);
  TrainingBatches plain(set, resident_source.get(), torch::kCPU, streaming_options(false));
  const NoRoom no_room;
  auto streamed_source = outside_images(images, 5);
  const auto seed = derive_seed(options.seed, "order");
  BatchSources sources{set.inputs, set.labels, BatchOrder(set.size(), seed), streamed_source.get(), options};
  sources.stream = stream_in_order(set.inputs, seed, torch::kCPU, {options.batch, part_of(options.batch, {}), {}});
  KernelBatches kernel(sources);
  for (const auto step : kAskedSteps) {
    kernel.prepare(step);
    kernel.make();
    const auto wanted = plain.at(step);
    EXPECT_TRUE(near(kernel.batch().inputs, wanted.inputs, 1e-6)) << step;
    EXPECT_TRUE(kernel.batch().targets.labels.equal(wanted.targets.labels)) << step;
  }
}

TEST(StreamedBatches, OfAnOutsideSetAreTheSame) {
  const auto images = torch::randint(256, {37, 1, 4, 4}, make_generator(9), torch::kUInt8);
  const auto resident = outside_images(images, 5);
  const NoRoom no_room;
  const auto streamed = outside_images(images, 5);
  for (const auto step : kAskedSteps) {
    for (const auto& batch : {OutsideBatch{step, 10, 5, 5}, OutsideBatch{step, 30, 0, 30}})
      EXPECT_TRUE(streamed->batch(batch).equal(resident->batch(batch))) << step;
  }
}

TEST(StreamedInputs, GetTheSameLogits) {
  const auto set = small_images(95, 4);
  const auto network = make_model(model_for(small_config(), set), make_generator(3));
  InferenceOptions options;
  options.batch = 20;
  options.noise = 0.3;
  const auto resident = infer(*network, set.inputs, options);
  {
    const NoRoom no_room;
    EXPECT_TRUE(infer(*network, set.inputs, options).equal(resident));
  }
  options.noise = 0;
  options.rows = torch::tensor({94, 3, 3, 0, 17}, torch::kInt64);
  options.batch = 2;
  const auto chosen = infer(*network, set.inputs, options);
  const NoRoom no_room;
  EXPECT_TRUE(infer(*network, set.inputs, options).equal(chosen));
  options.rows = torch::tensor({94, 1, 3, 1, 3, 1, 0, 1, 17, 1}, torch::kInt64).slice(0, 0, 10, 2);
  EXPECT_TRUE(infer(*network, set.inputs, options).equal(chosen));
  options.rows = torch::tensor({94, 95}, torch::kInt64);
  EXPECT_THROWS(ArgumentError, infer(*network, set.inputs, options), "infer: rows should be rows of the set, found 95");
  options.rows = torch::Tensor();
  EXPECT_TRUE(chosen.equal(infer(*network, set.inputs.index_select(0, torch::tensor({94, 3, 3, 0, 17})), options)));
}

// Rows kept back are read where they lie; factor analysis and validation read the set piece by piece.
TEST(StreamedTraining, EndsWithTheSameNetwork) {
  auto config = small_config();
  config.validation_share = 0.2;
  config.calibration_share = 0.1;
  config.outside.source = kFactorAnalysis;
  config.outside.settings["latent"] = 3;
  config.epochs = 2;
  NoProgress progress;
  const TemporaryFolder folder;
  const auto train_in = [&](const char* name) {
    const RunFolder run(folder / name, Start::kNew);
    const auto sets = prepare_training_sets(config, small_images(300, 5));
    train(config, sets, run, {}, progress);
    return std::pair(metrics_of(run), sets.train.rows.defined());
  };
  const auto resident = train_in("resident");
  const NoRoom no_room;
  const auto streamed = train_in("streamed");
  EXPECT_FALSE(resident.second);
  EXPECT_TRUE(streamed.second);
  EXPECT_EQ(streamed.first, resident.first);
}

}  // namespace
}  // namespace priornet
