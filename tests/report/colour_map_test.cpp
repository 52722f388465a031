#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include "tool/report/figure.h"

#include <cmath>

namespace priornet {
namespace {

std::vector<int64_t> colour(double value, ColourMap map) {
  const auto found = colours(torch::tensor({value}, torch::kFloat64), map, {-1.0, 3.0})[0].to(torch::kInt64);
  return {found[0].item<int64_t>(), found[1].item<int64_t>(), found[2].item<int64_t>()};
}

// The ends of viridis as matplotlib publishes it: #440154 and #fde725.
TEST(Colours, StartAndEndWithTheMap) {
  EXPECT_EQ(colour(-1.0, ColourMap::kViridis), (std::vector<int64_t>{0x44, 0x01, 0x54}));
  EXPECT_EQ(colour(3.0, ColourMap::kViridis), (std::vector<int64_t>{0xfd, 0xe7, 0x25}));
}

TEST(Colours, HoldTheEndsBeyondTheRangeAndForNaN) {
  EXPECT_EQ(colour(-INFINITY, ColourMap::kViridis), colour(-1.0, ColourMap::kViridis));
  EXPECT_EQ(colour(INFINITY, ColourMap::kViridis), colour(3.0, ColourMap::kViridis));
  EXPECT_EQ(colour(99.0, ColourMap::kBlues), colour(3.0, ColourMap::kBlues));
  EXPECT_EQ(colour(NAN, ColourMap::kBlues), colour(-1.0, ColourMap::kBlues));
}

// Rec. 709 luma: what makes a picture readable in grey, too.
TEST(Colours, RunEvenlyInLightness) {
  for (const auto map : {ColourMap::kViridis, ColourMap::kBlues, ColourMap::kYlOrRd}) {
    const auto ramp = colours(torch::linspace(0, 1, 101, torch::kFloat64), map, {0.0, 1.0}).to(torch::kFloat64);
    const auto luma = ramp.matmul(torch::tensor({0.2126, 0.7152, 0.0722}, torch::kFloat64));
    const auto steps = luma.slice(0, 1) - luma.slice(0, 0, -1);
    const bool up = (luma[100] > luma[0]).item<bool>();
    EXPECT_TRUE((up ? steps >= -0.5 : steps <= 0.5).all().item<bool>());
  }
}

TEST(Colours, KeepTheShapeAndAddChannels) {
  EXPECT_EQ(colours(torch::zeros({4, 5}), ColourMap::kBlues, {0.0, 1.0}).sizes(), (std::vector<int64_t>{4, 5, 3}));
}

TEST(Colours, RejectAnEmptyRange) {
  EXPECT_THROWS(ArgumentError, colours(torch::zeros({4}), ColourMap::kBlues, {1.0, 1.0}),
                "colours: the range's high end should be above its low end, found 1");
}

}  // namespace
}  // namespace priornet
