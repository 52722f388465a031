#include <ATen/Parallel.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

TEST(AddGaussianNoise, HasTheMeanAndSpreadItSays) {
  const auto images = torch::full({200, 1, 28, 28}, 0.25f);
  const auto noisy = add_gaussian_noise(images, {.sigma = 3, .seed = 5}).to(torch::kFloat64);
  const double count = 200 * 28 * 28;
  EXPECT_NEAR(noisy.mean().item<double>(), 0.25, 5 * 3 / std::sqrt(count));
  EXPECT_NEAR(noisy.std().item<double>(), 3, 5 * 3 / std::sqrt(2 * count));
  // A normal variable has a kurtosis of 3; its estimate a variance of 24 / count.
  const double kurtosis = ((noisy - 0.25) / 3).pow(4).mean().item<double>();
  EXPECT_NEAR(kurtosis, 3, 5 * std::sqrt(96 / count));
  EXPECT_TRUE(images.eq(0.25).all().item<bool>());
}

TEST(AddGaussianNoise, DependsOnTheSeedAndNotOnThreadsOrParts) {
  const auto images = torch::rand({300, 3, 8, 8});
  const auto whole = add_gaussian_noise(images, {.seed = 1});
  at::set_num_threads(1);
  EXPECT_TRUE(add_gaussian_noise(images, {.seed = 1}).equal(whole));
  EXPECT_TRUE(
      add_gaussian_noise(images.slice(0, 100, 250), {.seed = 1, .first_row = 100}).equal(whole.slice(0, 100, 250)));
  EXPECT_FALSE(add_gaussian_noise(images, {.seed = 2}).equal(whole));
  EXPECT_TRUE(add_gaussian_noise(images, {.sigma = 0}).equal(images));
  EXPECT_EQ(add_gaussian_noise(torch::empty({0, 4}), {}).numel(), 0);
}

TEST(AddGaussianNoise, RejectsWhatItCannotTake) {
  EXPECT_THROWS(ArgumentError, add_gaussian_noise(torch::zeros({2, 3}), {.sigma = -1}),
                "add_gaussian_noise: sigma should be at least 0, found -1");
  EXPECT_THROWS(ArgumentError, add_gaussian_noise(torch::zeros({2, 3}, torch::kUInt8), {}),
                "add_gaussian_noise: images should be float32 or float64, found Byte");
}

}  // namespace
}  // namespace priornet
