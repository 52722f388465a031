#include <priornet/uncertainty/errors.h>
#include <testing/small_images.h>
#include <testing/throws.h>
#include "learning/synthesis/made_up_images.h"

namespace priornet {
namespace {

TEST(Shapes, StandOnTheBackgroundsOfTheData) {
  const auto black = torch::zeros({1, 3});
  const auto shapes = random_shapes(40, {3, 20, 24}, black, 1);
  EXPECT_EQ(shapes.sizes(), torch::IntArrayRef({40, 3, 20, 24}));
  EXPECT_EQ(shapes.scalar_type(), torch::kUInt8);
  const auto dark = (shapes == 0).to(torch::kFloat64).mean().item<double>();
  EXPECT_GT(dark, 0.3);
  EXPECT_LT(dark, 0.95);
  EXPECT_TRUE(random_shapes(40, {3, 20, 24}, black, 1).equal(shapes));
  EXPECT_FALSE(random_shapes(40, {3, 20, 24}, black, 2).equal(shapes));
}

TEST(Shapes, TilesKeepThePixelsAndChangeTheirPlaces) {
  const auto images = small_images(10, 1).inputs;
  const auto tiles = shuffled_tiles(30, images, 3);
  int64_t moved = 0;
  for (int64_t i = 0; i < 30; ++i) {
    const auto pixels = std::get<0>(tiles[i].flatten().sort());
    bool known = false;
    for (int64_t j = 0; j < 10; ++j) {
      known = known || std::get<0>(images[j].flatten().sort()).equal(pixels);
      moved += tiles[i].equal(images[j]) ? 0 : 1;
    }
    EXPECT_TRUE(known) << i;
  }
  EXPECT_GE(moved, 290);
  EXPECT_EQ(shuffled_tiles(2, torch::zeros({1, 1, 1, 1}, torch::kUInt8), 0).size(0), 2);
}

TEST(Shapes, BackgroundsAreWhatMostPixelsAre) {
  auto image = torch::full({1, 1, 4, 4}, 7, torch::kUInt8);
  image[0][0][0][0] = 200;
  EXPECT_EQ(background_colours(image).item<float>(), 7);
}

TEST(Shapes, RefuseAnEmptyShape) {
  EXPECT_THROWS(ArgumentError, random_shapes(-1, {1, 2, 2}, torch::zeros({1, 1}), 0),
                "random_shapes: count should be at least 0, found -1");
}

}  // namespace
}  // namespace priornet
