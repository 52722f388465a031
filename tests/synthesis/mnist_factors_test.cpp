#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/transforms.h>
#include "learning/base/file_io.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace priornet {
namespace {

/// The training images as IDX holds them, behind a header of 16 bytes.
torch::Tensor mnist(const char* folder) {
  InputFile file(std::filesystem::path(folder) / "mnist" / "train-images-idx3-ubyte");
  char header[16];
  file.read(header, sizeof header);
  const auto images = torch::empty({60000, 1, 28, 28}, torch::kUInt8);
  file.read(images.data_ptr(), static_cast<size_t>(images.numel()));
  return images;
}

TEST(FactorAnalysis, FitsMnist) {
  const char* folder = std::getenv("PRIORNET_TEST_DATA");
  if (folder == nullptr) GTEST_SKIP() << "PRIORNET_TEST_DATA names no folder";
  const auto images = mnist(folder);
  NoProgress progress;
  const auto model = fit_factor_analysis(to_unit_range(images).flatten(1), {}, progress);
  for (size_t i = 1; i < model.log_likelihood.size(); ++i)
    ASSERT_GE(model.log_likelihood[i], model.log_likelihood[i - 1]) << "iteration " << i;
  RecordProperty("log_likelihood", std::to_string(model.log_likelihood.back()));
  RecordProperty("iterations", static_cast<int>(model.log_likelihood.size()) - 1);

  // At scale 1 the samples look like the data to first and second order; clipping and the floor take a little away.
  const auto samples = sample(model, 10000, {.low = 1, .high = 1}, 0);
  const auto data = to_unit_range(images);
  EXPECT_NEAR(samples.mean().item<double>(), data.mean().item<double>(), 0.01);
  EXPECT_NEAR(samples.var(0).sum().item<double>(), data.flatten(1).var(0).sum().item<double>(), 4);
  // A pixel that never changes has the floor's noise, which is a fifth of a grey level at scale 5.
  const auto clipped = sample_images(model, 1000, {1, 28, 28}, {.squash = Squash::kClip});
  const auto constant = images.flatten(1).amax(0).eq(0);
  EXPECT_GT(constant.sum().item<int64_t>(), 60);
  EXPECT_LE((clipped.flatten(1) * constant).max().item<int>(), 1);
}

}  // namespace
}  // namespace priornet
