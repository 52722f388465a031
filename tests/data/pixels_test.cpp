#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <cmath>

namespace priornet {
namespace {

torch::Tensor bytes(const std::vector<int>& values) { return torch::tensor(values, torch::kInt32).to(torch::kUInt8); }

TEST(ToUnitRange, PutsBlackAtMinusOneAndWhiteAtOne) {
  const auto all = torch::arange(256, torch::kInt32).to(torch::kUInt8).reshape({1, 1, 16, 16});
  const auto unit = to_unit_range(all).flatten();
  EXPECT_EQ(unit.scalar_type(), torch::kFloat32);
  EXPECT_EQ(unit[0].item<float>(), -1.0f);
  EXPECT_EQ(unit[255].item<float>(), 1.0f);
  for (int i = 0; i < 256; ++i) EXPECT_NEAR(unit[i].item<double>(), i / 127.5 - 1, 1e-7) << i;
}

// (R, G, B, L) as Pillow 9.4 converts them: pure colours, and the last two next to a rounding, 111.49998 and 54.5.
TEST(ToGrey, IsPillowsL) {
  const int known[][4] = {{0, 0, 0, 0},    {255, 255, 255, 255}, {255, 0, 0, 76},   {0, 255, 0, 150},
                          {0, 0, 255, 29}, {12, 200, 77, 130},   {1, 1, 1, 1},      {90, 17, 233, 63},
                          {3, 2, 1, 2},    {127, 128, 129, 128}, {1, 184, 28, 111}, {3, 55, 187, 55}};
  for (const auto& [r, g, b, l] : known) {
    const auto grey = to_grey(bytes({r, g, b}).reshape({3, 1, 1}));
    EXPECT_EQ(grey.sizes(), torch::IntArrayRef({1, 1, 1}));
    EXPECT_EQ(grey.item<int>(), l) << r << ", " << g << ", " << b;
  }
}

TEST(ToGrey, UndoesToRgb) {
  const auto grey = torch::randint(256, {5, 1, 7, 6}, torch::kUInt8);
  const auto rgb = to_rgb(grey);
  ASSERT_EQ(rgb.sizes(), torch::IntArrayRef({5, 3, 7, 6}));
  for (int c = 0; c < 3; ++c) EXPECT_TRUE(rgb.select(1, c).equal(grey.select(1, 0)));
  EXPECT_TRUE(to_grey(rgb).equal(grey));
  EXPECT_TRUE(to_grey(grey).is_same(grey));
  EXPECT_TRUE(to_rgb(rgb).is_same(rgb));
  EXPECT_THROWS(ArgumentError, to_grey(torch::zeros({2, 4, 4}, torch::kUInt8)),
                "to_grey: the number of channels should be 1 or 3, found 2");
  EXPECT_THROWS(ArgumentError, to_rgb(torch::zeros({4, 4, 4}, torch::kUInt8)),
                "to_rgb: the number of channels should be 1 or 3, found 4");
}

TEST(Invert, TurnsBlackIntoWhite) {
  EXPECT_TRUE(invert(bytes({0, 1, 200, 255}).reshape({1, 2, 2})).equal(bytes({255, 254, 55, 0}).reshape({1, 2, 2})));
}

TEST(Pad, AddsToEachSideWhatItWasTold) {
  const auto padded =
      pad(bytes({1, 2, 3, 4}).reshape({1, 1, 2, 2}), Padding{.left = 1, .right = 2, .bottom = 1, .value = 9});
  EXPECT_TRUE(padded.equal(bytes({9, 1, 2, 9, 9, 9, 3, 4, 9, 9, 9, 9, 9, 9, 9}).reshape({1, 1, 3, 5})));
  EXPECT_THROWS(ArgumentError, pad(torch::zeros({1, 2, 2}, torch::kUInt8), Padding{.top = -1}),
                "pad: top should be at least 0, found -1");
}

}  // namespace
}  // namespace priornet
