#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

Dataset coloured(int64_t count) {
  Dataset set;
  set.name = "photos";
  set.inputs = torch::randint(256, {count, 3, 12, 10}, torch::kUInt8);
  set.labels = torch::arange(count) % 2;
  set.class_names = {"even", "odd"};
  return set;
}

TEST(FitTo, MakesPhotosIntoWhatADigitNetworkTakes) {
  const auto set = coloured(7);
  const auto fitted = fit_to(set, {1, 6, 6});
  EXPECT_TRUE(fitted.inputs.equal(resize(to_grey(set.inputs), ResizeOptions{6, 6})));
  EXPECT_TRUE(fitted.labels.equal(set.labels));
  EXPECT_EQ(fitted.class_names, set.class_names);
  EXPECT_EQ(image_shape(fitted), (ImageShape{1, 6, 6}));
}

TEST(FitTo, MakesDigitsIntoWhatAPhotoNetworkTakes) {
  auto digits = coloured(3);
  digits.inputs = digits.inputs.narrow(1, 0, 1);
  const FitOptions options{Resampling::kBicubic, false};
  const auto fitted = fit_to(digits, {3, 20, 20}, options);
  EXPECT_TRUE(fitted.inputs.equal(to_rgb(resize(digits.inputs, ResizeOptions{20, 20, Resampling::kBicubic, false}))));
}

TEST(FitTo, LeavesASetOfTheShapeAsItIs) {
  const auto set = coloured(3);
  EXPECT_TRUE(fit_to(set, {3, 12, 10}).inputs.is_same(set.inputs));
}

TEST(FitTo, RefusesWhatHasNoPicturesOrOddChannels) {
  Dataset numbers;
  numbers.name = "iris";
  numbers.inputs = torch::zeros({4, 2});
  EXPECT_THROWS(DataError, fit_to(numbers, {1, 2, 2}), "iris: should hold images, holds rows of numbers");
  EXPECT_THROWS(DataError, fit_to(coloured(1), {2, 12, 10}),
                "photos: images of 3 channels cannot be turned into images of 2");
}

}  // namespace
}  // namespace priornet
