#include <priornet/learning/resize.h>
#include <priornet/uncertainty/errors.h>
#include <testing/fixtures.h>
#include <testing/throws.h>
#include "learning/data/npy.h"
#include "learning/transforms/resize_filter.h"

#include <map>

namespace priornet {
namespace {

using Pictures = std::map<std::string, torch::Tensor>;

/// Pictures and what Pillow made of them, by tests/data/fixtures/make_resize.py.
const Pictures& pillow() {
  static const Pictures pictures = [] {
    Pictures result;
    for (const auto& [name, values] : read_npz(fixture("resize.npz"))) result[name] = values.to(torch::kUInt8);
    return result;
  }();
  return pictures;
}

const char* const kNames[] = {"strokes", "digit", "half", "colours", "third", "narrower", "taller", "point"};

/// `place`: the number of the mode in that script.
void expect_as_pillow(int64_t place, Resampling resampling, bool antialias) {
  for (const std::string name : kNames) {
    const auto wanted = pillow().at(name + " resized")[place];
    const auto found = resize(pillow().at(name), ResizeOptions{wanted.size(1), wanted.size(2), resampling, antialias});
    ASSERT_EQ(found.sizes(), wanted.sizes()) << name;
    const auto error = (found.to(torch::kInt32) - wanted.to(torch::kInt32)).abs();
    EXPECT_EQ(error.max().item<int>(), 0) << name << ": " << error.gt(0).sum().item<int64_t>() << " pixels differ";
  }
}

TEST(Resize, IsPillowsNearest) { expect_as_pillow(0, Resampling::kNearest, true); }
TEST(Resize, IsPillowsBilinear) { expect_as_pillow(1, Resampling::kBilinear, true); }
TEST(Resize, IsPillowsBicubic) { expect_as_pillow(2, Resampling::kBicubic, true); }
TEST(Resize, IsPillowsNearestPoint) { expect_as_pillow(3, Resampling::kNearest, false); }
TEST(Resize, IsPillowsBilinearAtPoints) { expect_as_pillow(4, Resampling::kBilinear, false); }
TEST(Resize, IsPillowsBicubicAtPoints) { expect_as_pillow(5, Resampling::kBicubic, false); }

// TensorFlow 1 resized so: pixel i of the result lies at pixel scale * i of the source. So an image of half the size
// keeps every other pixel, whatever the interpolation; two thirds of six pixels lie at 0, 1.5, 3 and 4.5.
TEST(Resize, TakesPixelsAtCornersAsTensorFlow1Did) {
  const auto image = torch::tensor({0, 10, 20, 40, 80, 160}, torch::kUInt8).view({1, 1, 6}).repeat({3, 6, 1});
  for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear, Resampling::kBicubic}) {
    const ResizeOptions half{6, 3, resampling, false, PixelGrid::kCorners};
    EXPECT_TRUE(resize(image, half)[0][0].equal(torch::tensor({0, 20, 80}, torch::kUInt8))) << name_of(resampling);
  }
  const ResizeOptions two_thirds{6, 4, Resampling::kBilinear, false, PixelGrid::kCorners};
  EXPECT_TRUE(resize(image, two_thirds)[2][5].equal(torch::tensor({0, 15, 40, 120}, torch::kUInt8)));
  EXPECT_THROW(resize(image, {6, 4, Resampling::kBilinear, true, PixelGrid::kCorners}), ArgumentError);
}

TEST(Resize, TreatsEveryImageOfABatchAlike) {
  const auto& one = pillow().at("colours");
  const auto batch = torch::stack({one, 255 - one}).repeat({200, 1, 1, 1});
  for (const auto resampling : {Resampling::kNearest, Resampling::kBilinear, Resampling::kBicubic}) {
    for (const bool antialias : {true, false}) {
      const ResizeOptions options{20, 7, resampling, antialias};
      const auto resized = resize(batch, options);
      ASSERT_EQ(resized.sizes(), torch::IntArrayRef({400, 3, 20, 7}));
      EXPECT_TRUE(resized[398].equal(resize(one, options)));
      EXPECT_TRUE(resized[399].equal(resize(255 - one, options)));
      EXPECT_TRUE(resize(batch.transpose(2, 3).contiguous().transpose(2, 3), options).equal(resized));
    }
  }
}

TEST(Resize, LeavesAnImageOfTheSizeAsItIs) {
  const auto& one = pillow().at("half");
  EXPECT_TRUE(resize(one, ResizeOptions{64, 20, Resampling::kBicubic, true}).is_same(one));
  EXPECT_EQ(resize(torch::empty({0, 1, 8, 8}, torch::kUInt8), ResizeOptions{4, 4}).sizes(),
            torch::IntArrayRef({0, 1, 4, 4}));
}

// Sizes that leave blocks over, on every instruction set this CPU has.
TEST(Transpose, TurnsAPlaneOver) {
  for (const auto instructions : {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (!is_supported(instructions)) continue;
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{16, 16}, {33, 50}, {15, 64}, {1, 17}}) {
      const auto in = torch::randint(256, {rows, columns}, torch::kUInt8);
      const auto out = torch::empty({columns, rows}, torch::kUInt8);
      transpose({in.data_ptr<uint8_t>(), columns, out.data_ptr<uint8_t>(), rows, rows, columns}, instructions);
      EXPECT_TRUE(out.equal(in.t())) << rows << " x " << columns << ", " << name_of(instructions);
    }
  }
}

TEST(Resize, RejectsWhatIsNoPictureAndNoSize) {
  const auto image = torch::zeros({1, 4, 4}, torch::kUInt8);
  EXPECT_THROWS(ArgumentError, resize(image, ResizeOptions{0, 4}), "resize: height should be at least 1, found 0");
  EXPECT_THROWS(ArgumentError, resize(image, ResizeOptions{4, -1}), "resize: width should be at least 1, found -1");
  EXPECT_THROWS(ArgumentError, resize(torch::zeros({1, 4, 4}), ResizeOptions{2, 2}),
                "resize: images should be uint8 [N, C, H, W] or [C, H, W] with pixels, found Float");
  EXPECT_THROWS(ArgumentError, resize(image[0], ResizeOptions{2, 2}),
                "resize: images should be uint8 [N, C, H, W] or [C, H, W] with pixels, found shape [4, 4]");
  EXPECT_THROWS(ArgumentError, resize(torch::zeros({1, 0, 4}, torch::kUInt8), ResizeOptions{2, 2}),
                "resize: images should be uint8 [N, C, H, W] or [C, H, W] with pixels, found shape [1, 0, 4]");
}

}  // namespace
}  // namespace priornet
