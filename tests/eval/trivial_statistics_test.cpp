#include <gtest/gtest.h>
#include <priornet/learning/trivial_statistics.h>
#include <priornet/uncertainty/errors.h>
#include <testing/tensors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

torch::Tensor image(const std::vector<std::vector<double>>& values) {
  return rows(values).to(torch::kUInt8).unsqueeze(0).unsqueeze(0);
}

double statistic(const torch::Tensor& images, const std::string& name, int64_t row = 0) {
  for (const auto& [found, values] : trivial_statistics(images))
    if (found == name) return values[row].item<double>();
  ADD_FAILURE() << "there is no " << name;
  return 0;
}

TEST(TrivialStatistics, OfAFlatImageAreItsBrightness) {
  const auto flat = torch::full({1, 1, 5, 4}, 51, torch::kUInt8);
  EXPECT_DOUBLE_EQ(statistic(flat, "mean brightness"), 0.2);
  EXPECT_DOUBLE_EQ(statistic(flat, "border brightness"), 0.2);
  for (const auto* name : {"variance", "edge energy", "high-frequency energy", "extreme pixels"})
    EXPECT_EQ(statistic(flat, name), 0) << name;
}

// One white pixel in the middle of 3 x 3: mean 1/9, variance 1/9 - 1/81 = 8/81; of 12 pairs of neighbours 4 differ by
// 1; the one Laplacian is 4, its square 16, over 20 x 8/81.
TEST(TrivialStatistics, OfASpotAreKnown) {
  const auto spot = image({{0, 0, 0}, {0, 255, 0}, {0, 0, 0}});
  EXPECT_DOUBLE_EQ(statistic(spot, "mean brightness"), 1.0 / 9);
  EXPECT_DOUBLE_EQ(statistic(spot, "variance"), 8.0 / 81);
  EXPECT_DOUBLE_EQ(statistic(spot, "edge energy"), 4.0 / 12);
  EXPECT_DOUBLE_EQ(statistic(spot, "high-frequency energy"), 16.0 * 81 / 160);
  EXPECT_DOUBLE_EQ(statistic(spot, "border brightness"), 0);
  EXPECT_DOUBLE_EQ(statistic(spot, "extreme pixels"), 1);
}

// A plane with steps of 1/5 both ways: its greys are 0, 1, 1, 2, 2, 2, 3, 3, 4 fifths. A plane has no Laplacian.
TEST(TrivialStatistics, OfARampAreKnown) {
  const auto ramp = image({{0, 51, 102}, {51, 102, 153}, {102, 153, 204}});
  EXPECT_DOUBLE_EQ(statistic(ramp, "mean brightness"), 0.4);
  EXPECT_DOUBLE_EQ(statistic(ramp, "variance"), 0.04 * 12 / 9);
  EXPECT_DOUBLE_EQ(statistic(ramp, "edge energy"), 0.04);
  EXPECT_DOUBLE_EQ(statistic(ramp, "high-frequency energy"), 0);
  // Two pairs across differ by 2/5, two down by 1/5.
  EXPECT_DOUBLE_EQ(statistic(image({{0, 102}, {51, 153}}), "edge energy"), (2 * 0.16 + 2 * 0.04) / 4);
}

TEST(TrivialStatistics, BorderIsTheOutermostRing) {
  const auto frame = image({{255, 255, 255, 255}, {255, 0, 0, 255}, {255, 0, 0, 0}});
  EXPECT_DOUBLE_EQ(statistic(frame, "border brightness"), 0.7);
  EXPECT_DOUBLE_EQ(statistic(image({{0, 255}, {255, 0}}), "border brightness"), 0.5);
  EXPECT_DOUBLE_EQ(statistic(image({{255}, {0}, {0}}), "border brightness"), 1.0 / 3);
}

TEST(TrivialStatistics, HighFrequencyEnergyOfWhiteNoiseIsOne) {
  torch::manual_seed(1);
  const auto noise = torch::randint(0, 256, {20, 1, 64, 64}, torch::kUInt8);
  double sum = 0;
  for (int64_t row = 0; row < 20; ++row) sum += statistic(noise, "high-frequency energy", row);
  EXPECT_NEAR(sum / 20, 1, 0.02);
}

TEST(TrivialStatistics, ExtremePixelsCountBlackAndWhite) {
  EXPECT_DOUBLE_EQ(statistic(image({{0, 1, 254, 255}}), "extreme pixels"), 0.5);
}

TEST(TrivialStatistics, OfColourTakeTheMeanOfTheChannels) {
  auto colour = torch::zeros({1, 3, 1, 2}, torch::kUInt8);
  colour.select(1, 0).fill_(255);
  colour[0][1][0][1] = 153;
  // Pixels (255, 0, 0) and (255, 153, 0): greys 1/3 and 1.6/3.
  EXPECT_DOUBLE_EQ(statistic(colour, "mean brightness"), 1.3 / 3);
  EXPECT_NEAR(statistic(colour, "variance"), 0.01, 1e-15);
  EXPECT_DOUBLE_EQ(statistic(colour, "saturation"), 1);
  EXPECT_DOUBLE_EQ(statistic(colour, "extreme pixels"), 5.0 / 6);
}

TEST(TrivialStatistics, OfGreyImagesHaveNoSaturation) {
  const auto statistics = trivial_statistics(torch::zeros({2, 1, 2, 2}, torch::kUInt8));
  EXPECT_EQ(statistics.size(), 6u);
  EXPECT_EQ(statistics[0].values.sizes(), torch::IntArrayRef({2}));
  EXPECT_EQ(statistics[0].values.scalar_type(), torch::kFloat64);
}

TEST(TrivialStatistics, OfSeveralImagesAreTheirOwn) {
  torch::manual_seed(2);
  const auto images = torch::randint(0, 256, {50, 3, 9, 7}, torch::kUInt8);
  const auto together = trivial_statistics(images);
  for (const int64_t row : {0, 17, 49}) {
    const auto alone = trivial_statistics(images.narrow(0, row, 1));
    for (size_t s = 0; s < alone.size(); ++s)
      EXPECT_EQ(together[s].values[row].item<double>(), alone[s].values[0].item<double>()) << alone[s].name;
  }
  EXPECT_NEAR(together[1].values[3].item<double>(),
              images[3].to(torch::kFloat64).mean(0).div(255).var(false).item<double>(), 1e-14);
}

TEST(InvertedStatistics, AreThoseOfTheInvertedImages) {
  torch::manual_seed(3);
  const auto images = torch::randint(0, 200, {10, 3, 8, 8}, torch::kUInt8);
  const auto expected = trivial_statistics(255 - images);
  const auto found = inverted_statistics(trivial_statistics(images));
  for (size_t s = 0; s < expected.size(); ++s)
    EXPECT_TRUE(near(found[s].values, expected[s].values, 1e-14)) << expected[s].name;
}

TEST(TrivialStatistics, RefuseWhatAreNoImages) {
  EXPECT_THROWS(ArgumentError, trivial_statistics(torch::zeros({2, 3})),
                "trivial_statistics: images should be uint8 [N, C, H, W], found Float of rank 2");
  EXPECT_THROWS(ArgumentError, trivial_statistics(torch::zeros({2, 1, 0, 3}, torch::kUInt8)),
                "trivial_statistics: images should have pixels, found none");
}

}  // namespace
}  // namespace priornet
