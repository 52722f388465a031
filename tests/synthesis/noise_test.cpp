#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include "learning/synthesis/made_up_images.h"

#include <cmath>

namespace priornet {
namespace {

TEST(UniformNoiseImages, HaveEveryGreyLevelEquallyOften) {
  const auto images = uniform_noise_images(200, {3, 32, 32}, {1});
  EXPECT_EQ(images.sizes(), torch::IntArrayRef({200, 3, 32, 32}));
  const auto counts = torch::bincount(images.flatten());
  ASSERT_EQ(counts.size(0), 256);
  const double wanted = 200 * 3072 / 256.0;
  EXPECT_LT((counts - wanted).abs().max().item<double>(), 5 * std::sqrt(wanted));
  EXPECT_TRUE(uniform_noise_images(200, {3, 32, 32}, {1}).equal(images));
  EXPECT_FALSE(uniform_noise_images(200, {3, 32, 32}, {2}).equal(images));
}

TEST(GaussianNoiseImages, AreNormalAroundMidGrey) {
  const auto images = gaussian_noise_images(200, {1, 28, 28}, {1}, 0.25);
  const auto grey = images.to(torch::kFloat64);
  EXPECT_NEAR(grey.mean().item<double>(), 127.5, 5 * 0.25 * 127.5 / std::sqrt(200 * 784.0));
  EXPECT_NEAR(grey.std().item<double>(), 0.25 * 127.5, 0.3);
  // At sigma 1 what lies beyond one sigma, 31.7 %, is clipped.
  const auto wide = gaussian_noise_images(200, {1, 28, 28}, {1});
  const double clipped = wide.eq(0).logical_or(wide.eq(255)).to(torch::kFloat64).mean().item<double>();
  EXPECT_NEAR(clipped, 0.3173 + 0.0019, 0.006);
}

TEST(NoiseImages, RejectWhatIsNoShape) {
  EXPECT_THROWS(ArgumentError, uniform_noise_images(-1, {1, 2, 2}, {0}),
                "uniform_noise_images: count should be at least 0, found -1");
  EXPECT_THROWS(ArgumentError, gaussian_noise_images(1, {1, 0, 2}, {0}),
                "gaussian_noise_images: height should be at least 1, found 0");
  EXPECT_THROWS(ArgumentError, gaussian_noise_images(1, {1, 2, 2}, {0}, -1),
                "gaussian_noise_images: sigma should be at least 0, found -1");
}

}  // namespace
}  // namespace priornet
