#include <priornet/learning/augmentation.h>
#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/transforms.h>
#include <testing/tensors.h>

// Functions that prepare and make images give the same on a GPU as on the CPU, where the other tests check them.

namespace priornet {
namespace {

const torch::Device kCuda(torch::kCUDA);

TEST(CudaTransforms, PreparePixelsAlike) {
  const auto images = torch::randint(256, {9, 3, 11, 7}, torch::kUInt8);
  EXPECT_TRUE(near(to_unit_range(images.to(kCuda)).cpu(), to_unit_range(images), 1e-6));
  EXPECT_TRUE(to_grey(images.to(kCuda)).cpu().equal(to_grey(images)));
  EXPECT_TRUE(invert(images.to(kCuda)).cpu().equal(invert(images)));
  const auto unit = to_unit_range(images);
  EXPECT_TRUE(near(add_gaussian_noise(unit.to(kCuda), {.seed = 3}).cpu(), add_gaussian_noise(unit, {.seed = 3}), 1e-6));
}

TEST(CudaTransforms, AugmentToTheSameBytes) {
  const auto images = torch::randint(256, {137, 3, 32, 32}, torch::kUInt8);
  for (const double degrees : {0.0, 15.0})
    for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear}) {
      const AugmentationOptions options{true, 4, degrees, resampling, false, 9};
      const AugmentationDraw draw{.seed = 5, .step = 6};
      EXPECT_TRUE(augment(images.to(kCuda), options, draw).cpu().equal(augment(images, options, draw))) << degrees;
    }
}

TEST(CudaTransforms, FitAndSampleFactorsAlike) {
  torch::manual_seed(1);
  const auto data = torch::randn({500, 4}).matmul(torch::randn({4, 20})) + torch::randn({500, 20});
  NoProgress progress;
  const auto here = fit_factor_analysis(data, {.latent = 4, .tolerance = 1e-9}, progress);
  const auto there = fit_factor_analysis(data.to(kCuda), {.latent = 4, .tolerance = 1e-9}, progress);
  EXPECT_NEAR(there.log_likelihood.back(), here.log_likelihood.back(), 1e-6);
  const FactorAnalysis moved{here.mean.to(kCuda), here.loading.to(kCuda), here.noise.to(kCuda), {}};
  EXPECT_TRUE(near(sample(moved, 300, {}, 2).cpu(), sample(here, 300, {}, 2), 1e-4));
}

}  // namespace
}  // namespace priornet
