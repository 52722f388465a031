#include <priornet/learning/augmentation.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include "learning/transforms/augmentation_kernels.h"

#include <cmath>

namespace priornet {
namespace {

torch::Tensor pictures(int64_t count, int64_t channels = 3, int64_t height = 13, int64_t width = 10) {
  return torch::randint(256, {count, channels, height, width}, torch::kUInt8);
}

/// Settings that leave every image as it is.
AugmentationParameters nothing(int64_t count) {
  return {torch::zeros({count}, torch::kInt32), torch::zeros({count, 2}, torch::kInt32),
          torch::tensor({1.0f, 0.0f}).repeat({count, 1}), torch::zeros({count, 2}, torch::kInt32)};
}

AugmentationParameters draw(const torch::Tensor& images, const AugmentationOptions& options, AugmentationDraw which) {
  return draw_augmentation(images.size(0), {images.size(1), images.size(2), images.size(3)}, options, which,
                           torch::kCPU);
}

/// One image flipped, padded by reflection and cropped: step by step, as the authors do it.
torch::Tensor flipped_and_shifted(torch::Tensor image, const AugmentationParameters& parameters, int64_t n,
                                  int64_t shift) {
  if (parameters.flip[n].item<int>() == 1) image = image.flip(2);
  const auto padded = torch::reflection_pad2d(image.to(torch::kFloat32), {shift, shift, shift, shift});
  return padded.narrow(2, shift + parameters.shift[n][0].item<int>(), image.size(2))
      .narrow(1, shift + parameters.shift[n][1].item<int>(), image.size(1))
      .to(torch::kUInt8);
}

TEST(Augment, FlipsAndShiftsAreCopies) {
  const auto images = pictures(200);
  const AugmentationOptions options{.flip = true, .shift = 4};
  const auto parameters = draw(images, options, {.seed = 3});
  const auto augmented = augment(images, options, parameters);
  for (int64_t n = 0; n < images.size(0); ++n)
    ASSERT_TRUE(augmented[n].equal(flipped_and_shifted(images[n], parameters, n, 4))) << n;
}

// A loop over pixels in float64. A place that lies between two pixels to the last digit may go either way.
TEST(Augment, RotatesAboutTheCentre) {
  for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear}) {
    const auto images = pictures(20);
    const AugmentationOptions options{
        .flip = true, .shift = 2, .rotation_degrees = 60, .rotation_resampling = resampling};
    const auto parameters = draw(images, options, {.seed = 1, .step = 7});
    const auto augmented = augment(images, options, parameters);
    for (int64_t n = 0; n < images.size(0); ++n) {
      const auto upright = flipped_and_shifted(images[n], parameters, n, 2);
      const double cosine = parameters.rotation[n][0].item<double>();
      const double sine = parameters.rotation[n][1].item<double>();
      const auto pixel = [&](int64_t c, int64_t y, int64_t x) {
        const bool inside = y >= 0 && y < images.size(2) && x >= 0 && x < images.size(3);
        return inside ? upright[c][y][x].item<double>() : 0.0;
      };
      for (int64_t y = 0; y < images.size(2); ++y)
        for (int64_t x = 0; x < images.size(3); ++x) {
          const double from_x = cosine * (x - 4.5) - sine * (y - 6.0) + 4.5;
          const double from_y = sine * (x - 4.5) + cosine * (y - 6.0) + 6.0;
          const double found = augmented[n][1][y][x].item<double>();
          if (resampling == Resampling::kNearest) {
            const auto is_tie = [](double v) { return std::abs(v - std::floor(v) - 0.5) < 1e-4; };
            if (is_tie(from_x) || is_tie(from_y)) continue;
            ASSERT_EQ(found, pixel(1, std::lround(from_y), std::lround(from_x))) << n << ", " << y << ", " << x;
          } else {
            const auto left = static_cast<int64_t>(std::floor(from_x));
            const auto top = static_cast<int64_t>(std::floor(from_y));
            double value = 0;
            for (const int64_t i : {0, 1})
              for (const int64_t j : {0, 1})
                value += (1 - std::abs(from_y - static_cast<double>(top + i))) *
                         (1 - std::abs(from_x - static_cast<double>(left + j))) * pixel(1, top + i, left + j);
            ASSERT_NEAR(found, value, 0.501) << n << ", " << y << ", " << x;
          }
        }
    }
  }
}

TEST(Augment, TurnsAQuarterAgainstTheClock) {
  const auto images = pictures(3, 2, 9, 9);
  auto parameters = nothing(3);
  parameters.rotation = torch::tensor({0.0f, 1.0f}).repeat({3, 1});
  for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear}) {
    const AugmentationOptions options{.rotation_degrees = 90, .rotation_resampling = resampling};
    EXPECT_TRUE(augment(images, options, parameters).equal(torch::rot90(images, 1, {2, 3})));
  }
}

TEST(Augment, PassesWhatIsNotRotatedBitForBit) {
  const auto images = pictures(5);
  for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear}) {
    const AugmentationOptions options{
        .flip = true, .shift = 3, .rotation_degrees = 15, .rotation_resampling = resampling};
    EXPECT_TRUE(augment(images, options, nothing(5)).equal(images));
  }
  EXPECT_TRUE(augment(images, {}, AugmentationDraw{.seed = 1}).equal(images));
}

TEST(Augment, GivesTheSamePixelByPixel) {
  const auto odd = pictures(50);
  const auto one_row = pictures(50, 1, 1, 7);
  for (const auto& images : {odd, one_row})
    for (const bool flip : {true, false})
      for (const double degrees : {0.0, 15.0, 180.0})
        for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear})
          for (const bool reflect : {true, false})
            for (const int64_t cutout : {0, 5}) {
              const int64_t shift = images.size(2) == 1 ? 0 : 9;
              const AugmentationOptions options{flip, shift, degrees, resampling, reflect, cutout};
              const auto parameters = draw(images, options, {.seed = 9});
              EXPECT_TRUE(augment(images, options, parameters).equal(augment_by_pixel(images, options, parameters)))
                  << flip << degrees << reflect << cutout;
            }
}

TEST(Augment, FillsWithBlackOrTheReflectedImage) {
  const auto white = torch::full({30, 1, 16, 16}, 255, torch::kUInt8);
  AugmentationOptions options{.rotation_degrees = 45};
  EXPECT_TRUE(augment(white, options, AugmentationDraw{}).eq(0).any().item<bool>());
  options.reflect_outside = true;
  EXPECT_TRUE(augment(white, options, AugmentationDraw{}).equal(white));
}

TEST(Augment, CutsOneSquareHole) {
  const auto white = torch::full({400, 3, 32, 32}, 255, torch::kUInt8);
  const auto holes = augment(white, {.cutout = 15}, AugmentationDraw{.seed = 2}).eq(128);
  EXPECT_TRUE(holes.select(1, 0).equal(holes.select(1, 2)));
  const auto sizes = holes.select(1, 0).flatten(1).sum(1);
  EXPECT_EQ(sizes.max().item<int64_t>(), 15 * 15);
  EXPECT_GE(sizes.min().item<int64_t>(), 7 * 7);
  const auto columns = holes.select(1, 0).any(1).sum(1);
  const auto rows = holes.select(1, 0).any(2).sum(1);
  EXPECT_TRUE((columns * rows).equal(sizes));
}

TEST(DrawAugmentation, IsUniformOverWhatItMayDo) {
  const int64_t count = 20000;
  const AugmentationOptions options{.flip = true, .shift = 4, .rotation_degrees = 15, .cutout = 8};
  const auto drawn = draw_augmentation(count, {3, 32, 32}, options, {.seed = 6}, torch::kCPU);
  EXPECT_NEAR(drawn.flip.to(torch::kFloat64).mean().item<double>(), 0.5, 5 * 0.5 / std::sqrt(count));
  for (const int64_t axis : {0, 1}) {
    const auto counts = torch::bincount(drawn.shift.select(1, axis) + 4);
    ASSERT_EQ(counts.size(0), 9);
    const double wanted = count / 9.0;
    EXPECT_LT((counts - wanted).abs().max().item<double>(), 5 * std::sqrt(wanted));
    const auto places = torch::bincount(drawn.hole.select(1, axis) + 4);
    ASSERT_EQ(places.size(0), 32);
    EXPECT_LT((places - count / 32.0).abs().max().item<double>(), 5 * std::sqrt(count / 32.0));
  }
  const auto angle = torch::atan2(drawn.rotation.select(1, 1), drawn.rotation.select(1, 0)) * (180 / M_PI);
  EXPECT_NEAR(angle.max().item<double>(), 15, 0.01);
  EXPECT_NEAR(angle.min().item<double>(), -15, 0.01);
  EXPECT_NEAR(angle.std().item<double>(), 15 / std::sqrt(3.0), 0.1);
}

TEST(DrawAugmentation, DependsOnSeedAndStepAndNotOnOtherOptions) {
  const auto images = pictures(64);
  const AugmentationOptions all{.flip = true, .shift = 4, .rotation_degrees = 15, .cutout = 3};
  const auto first = draw(images, all, {.seed = 1, .step = 2});
  EXPECT_TRUE(draw(images, all, {.seed = 1, .step = 2}).rotation.equal(first.rotation));
  EXPECT_FALSE(draw(images, all, {.seed = 1, .step = 3}).rotation.equal(first.rotation));
  EXPECT_FALSE(draw(images, all, {.seed = 2, .step = 2}).rotation.equal(first.rotation));
  const auto only_shift = draw(images, {.shift = 4}, {.seed = 1, .step = 2});
  EXPECT_TRUE(only_shift.shift.equal(first.shift));
  EXPECT_EQ(only_shift.flip.sum().item<int64_t>(), 0);
}

TEST(Augment, RejectsWhatItCannotDo) {
  const auto images = pictures(2);
  const AugmentationDraw any;
  EXPECT_THROWS(ArgumentError, augment(images, {.shift = 10}, any),
                "augment: shift should be at least 0 and below the image's side of 10, found 10");
  EXPECT_THROWS(ArgumentError, augment(images, {.rotation_degrees = -1}, any),
                "augment: rotation_degrees should be in [0, 180], found -1");
  EXPECT_THROWS(ArgumentError, augment(images, {.rotation_resampling = Resampling::kBicubic}, any),
                "augment: rotation_resampling should be kNearest or kBilinear, found 2");
  for (const int cutout : {-1, 14})
    EXPECT_THROWS(
        ArgumentError, augment(images, {.cutout = cutout}, any),
        ("augment: cutout should be at least 0 and at most the image's side of 13, found " + std::to_string(cutout))
            .c_str());
  EXPECT_THROWS(ArgumentError, augment(images[0], {}, any),
                "augment: images should be of rank 4, found shape [3, 13, 10]");
  EXPECT_THROWS(ArgumentError, augment(images, {}, nothing(3)),
                "augment: the number of parameters should be the number of images, 2, found 3");
}

}  // namespace
}  // namespace priornet
