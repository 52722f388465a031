#include "tool/audit/set_comparison.h"
#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using Names = std::vector<std::string>;

Dataset unlabelled(std::string name, torch::Tensor inputs) {
  return {std::move(name), std::move(inputs), torch::Tensor(), {}, {}};
}

Dataset labelled(std::string name, torch::Tensor inputs, Names classes) {
  auto labels = torch::arange(inputs.size(0), torch::kInt64).remainder(static_cast<int64_t>(classes.size()));
  return {std::move(name), std::move(inputs), std::move(labels), std::move(classes), {}};
}

// Grey noise, which stands for photographs.
torch::Tensor noise(int64_t count, uint64_t seed, int64_t size = 8, int64_t channels = 1) {
  torch::manual_seed(seed);
  return torch::randint(0, 256, {count, channels, size, size}, torch::kUInt8);
}

// White on black: a random half of the pixels in the middle.
torch::Tensor strokes(int64_t count, uint64_t seed) {
  torch::manual_seed(seed);
  auto images = torch::zeros({count, 1, 8, 8}, torch::kUInt8);
  images.slice(2, 2, 6).slice(3, 2, 6).copy_(torch::randint(0, 2, {count, 1, 4, 4}, torch::kUInt8) * 255);
  return images;
}

bool has(const Names& sentences, const std::string& sentence) {
  return std::find(sentences.begin(), sentences.end(), sentence) != sentences.end();
}

const StatisticAuroc& named(const SetComparison& comparison, const std::string& name) {
  for (const auto& statistic : comparison.statistics)
    if (statistic.name == name) return statistic;
  throw std::out_of_range(name);
}

TEST(CompareSets, OfOneKindFindsNothingToTellThemBy) {
  const auto found = compare_sets(unlabelled("a", noise(300, 1)), unlabelled("b", noise(100, 2)));
  EXPECT_EQ(found.in.size, 300);
  EXPECT_EQ(found.out.size, 100);
  EXPECT_DOUBLE_EQ(found.prevalence, 0.25);
  EXPECT_EQ(found.in.shape, (std::vector<int64_t>{1, 8, 8}));
  EXPECT_EQ(found.matching, "");
  EXPECT_LT(found.trivial_auroc(), 0.62);
  EXPECT_FALSE(found.opposite_polarity);
  EXPECT_TRUE(found.exact_duplicates.empty());
  EXPECT_TRUE(found.near_duplicates.empty());
  const auto sentences = verdict(found);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_TRUE(sentences[0].starts_with("trivial statistics hardly tell the sets apart: at most ")) << sentences[0];
  EXPECT_EQ(sentences[1], "the sets have no class names, so nobody can see whether the sets share classes");
}

TEST(CompareSets, FindsTheStatisticThatTellsAll) {
  const auto dark = noise(50, 3).div(2, "floor");
  const auto found = compare_sets(unlabelled("dark", dark), unlabelled("light", dark + 120));
  EXPECT_EQ(found.trivial_auroc(), 1);
  EXPECT_EQ(found.strongest_statistic().name, "mean brightness");
  EXPECT_TRUE(found.strongest_statistic().out_is_higher);
  EXPECT_FALSE(
      compare_sets(unlabelled("light", dark + 120), unlabelled("dark", dark)).strongest_statistic().out_is_higher);
  EXPECT_EQ(named(found, "variance").auroc, 0.5);
  EXPECT_EQ(verdict(found)[0], "separable by mean brightness alone: 100.0");
  EXPECT_EQ(found.near_duplicates.size(), 50u);
}

TEST(CompareSets, FindsThePolarity) {
  const auto in = unlabelled("mnist", strokes(200, 4));
  const auto out = unlabelled("omniglot", 255 - strokes(100, 5));
  const auto found = compare_sets(in, out);
  EXPECT_TRUE(found.opposite_polarity);
  EXPECT_EQ(found.trivial_auroc(), 1);
  EXPECT_LT(strongest(found.inverted_statistics).auroc, 0.65);
  const auto sentences = verdict(found);
  EXPECT_EQ(sentences[0], "separable by mean brightness alone: 100.0; try --invert");
  EXPECT_TRUE(
      sentences[1].starts_with("OUT has the opposite polarity: dark on light where IN is light on dark; if OUT is "
                               "inverted, trivial statistics reach at most "))
      << sentences[1];

  const auto inverted = compare_sets(in, out, {.fit = {}, .invert_out = true});
  EXPECT_TRUE(inverted.out_was_inverted);
  EXPECT_FALSE(inverted.opposite_polarity);
  EXPECT_EQ(inverted.trivial_auroc(), strongest(found.inverted_statistics).auroc);
  EXPECT_EQ(strongest(inverted.inverted_statistics).auroc, 1);
}

TEST(CompareSets, SaysWhenInvertingWasTheMistake) {
  const auto found =
      compare_sets(unlabelled("a", strokes(200, 4)), unlabelled("b", strokes(100, 5)), {.fit = {}, .invert_out = true});
  EXPECT_TRUE(found.opposite_polarity);
  EXPECT_EQ(verdict(found)[0], "separable by mean brightness alone: 100.0; leave --invert out");
}

// Photographs are light and strokes are dark, but inverting one of them does not make them alike.
TEST(CompareSets, SeesNoPolarityInPhotographs) {
  EXPECT_FALSE(
      compare_sets(unlabelled("strokes", strokes(50, 6)), unlabelled("photos", noise(50, 7))).opposite_polarity);
  EXPECT_FALSE(
      compare_sets(unlabelled("photos", noise(50, 7)), unlabelled("strokes", strokes(50, 6))).opposite_polarity);
}

TEST(CompareSets, BringsOutToTheShapeOfIn) {
  const auto in = unlabelled("in", noise(20, 8, 8, 3));
  const auto found = compare_sets(in, unlabelled("out", noise(20, 9, 16, 1)));
  EXPECT_EQ(found.matching, "grey to RGB; 16x16 to 8x8, bilinear with antialiasing");
  EXPECT_EQ(found.out.shape, (std::vector<int64_t>{1, 16, 16}));
  EXPECT_EQ(found.out.means.size(), 3u);
  EXPECT_TRUE(has(verdict(found),
                  "OUT was changed to match IN (grey to RGB; 16x16 to 8x8, bilinear with antialiasing); this affects "
                  "every number"));
  EXPECT_EQ(found.strongest_statistic().auroc, 1) << "a grey set has no saturation";
  const ComparisonOptions bicubic{.fit = {.resampling = Resampling::kBicubic, .antialias = false}, .invert_out = false};
  EXPECT_EQ(compare_sets(in, unlabelled("out", noise(20, 9, 16, 3)), bicubic).matching,
            "16x16 to 8x8, bicubic without antialiasing");
  EXPECT_EQ(compare_sets(unlabelled("grey", noise(5, 1)), unlabelled("out", noise(5, 2, 8, 3))).matching,
            "colour to grey");
}

TEST(CompareSets, GivesMeansAndDeviationsOfEachChannel) {
  auto images = torch::zeros({2, 3, 2, 2}, torch::kUInt8);
  images.select(1, 1).fill_(51);
  images[0][2].fill_(255);
  const auto found = compare_sets(unlabelled("a", images), unlabelled("b", noise(3, 10, 2, 3)));
  EXPECT_EQ(found.in.means, (std::vector<double>{0, 0.2, 0.5}));
  EXPECT_NEAR(found.in.deviations[0], 0, 1e-9);
  EXPECT_NEAR(found.in.deviations[1], 0, 1e-8);
  EXPECT_NEAR(found.in.deviations[2], 0.5, 1e-12);
}

TEST(CompareSets, CountsWhatTheSetsShare) {
  auto in = noise(30, 11);
  in[29].copy_(in[3]);
  auto out = noise(20, 12);
  out[4].copy_(in[7]);
  out[5].copy_(in[8]);
  out[5][0][0][0].bitwise_xor_(1);
  const auto found = compare_sets(unlabelled("in", in), unlabelled("out", out));
  ASSERT_EQ(found.exact_duplicates.size(), 1u);
  ASSERT_EQ(found.near_duplicates.size(), 1u);
  EXPECT_EQ(found.in.repeated, 1);
  EXPECT_EQ(found.out.repeated, 0);
  const auto sentences = verdict(found);
  EXPECT_TRUE(has(sentences, "1 input of OUT is also in IN (for example number 4 of OUT and 7 of IN, counted from 0)"));
  EXPECT_TRUE(has(
      sentences,
      "a further 1 image of OUT nearly repeats one of IN (for example number 5 of OUT and 8 of IN, counted from 0)"));
  EXPECT_TRUE(has(sentences, "IN holds 1 input more than once"));
}

TEST(CompareSets, NamesTheClassesThatTheSetsShare) {
  const auto in = labelled("cifar10:train", noise(20, 13), {"cat", "truck", "ship"});
  const auto out =
      labelled("tinyimagenet:val", noise(20, 14),
               {"n02123045 tabby, tabby cat", "n02666196 abacus", "n03796401 moving van", "n02999410 chain"});
  const auto found = compare_sets(in, out);
  EXPECT_EQ(found.out_classes_of_in, (Names{"n02123045 tabby, tabby cat", "n03796401 moving van"}));
  EXPECT_TRUE(has(verdict(found),
                  "2 of OUT's 4 classes are classes of IN, or kinds of them: tabby, moving van; "
                  "tinyimagenet:val,without=cifar10 leaves them out"));
  EXPECT_TRUE(has(verdict(compare_sets(out, in)),
                  "2 of IN's 4 classes are classes of OUT, or kinds of them: tabby, moving van"));
  EXPECT_TRUE(
      has(verdict(compare_sets(labelled("a", noise(4, 15), {"0", "1"}), labelled("b", noise(4, 16), {"1", "0"}))),
          "every class of OUT (1, 0) is a class of IN: the sets have the same classes, at most in another domain"));
  EXPECT_TRUE(has(verdict(compare_sets(in, unlabelled("b", noise(4, 16)))),
                  "OUT has no class names, so nobody can see whether the sets share classes"));
}

TEST(CompareSets, OfNumbersGoesFeatureByFeature) {
  torch::manual_seed(17);
  auto in = unlabelled("in", torch::randn({200, 3}));
  auto out = unlabelled("out", torch::randn({100, 3}));
  out.inputs.select(1, 1) += 10;
  out.inputs[7].copy_(in.inputs[9]);
  in.feature_names = out.feature_names = {"age", "height", "weight"};
  const auto found = compare_sets(in, out);
  ASSERT_EQ(found.statistics.size(), 3u);
  EXPECT_EQ(found.strongest_statistic().name, "height");
  EXPECT_GT(found.trivial_auroc(), 0.98);
  EXPECT_TRUE(found.inverted_statistics.empty());
  EXPECT_NEAR(found.out.means[1], 10, 0.5);
  ASSERT_EQ(found.exact_duplicates.size(), 1u);
  EXPECT_EQ(found.exact_duplicates[0].in, 9);
  in.feature_names = {};
  EXPECT_EQ(compare_sets(in, out).strongest_statistic().name, "feature 1");
}

TEST(CompareSets, RefusesWhatCannotBeCompared) {
  auto numbers = unlabelled("rows", torch::zeros({4, 3}));
  EXPECT_THROWS(DataError, compare_sets(unlabelled("images", noise(3, 1)), numbers),
                "rows: holds rows of 3 numbers, which cannot be compared with images: images of 1 channels");
  EXPECT_THROWS(DataError, compare_sets(unlabelled("none", noise(0, 1)), unlabelled("b", noise(3, 1))),
                "none: is empty: there is nothing to compare");
  EXPECT_THROWS(DataError, compare_sets(numbers, unlabelled("more", torch::zeros({4, 5}))),
                "more: holds rows of 5 numbers, which cannot be compared with rows: rows of 3 numbers");
  EXPECT_THROWS(DataError, compare_sets(numbers, numbers, {.fit = {}, .invert_out = true}),
                "rows: holds rows of 3 numbers, which cannot be inverted");
  auto others = numbers;
  numbers.feature_names = {"a", "b", "c"};
  others.feature_names = {"a", "c", "b"};
  EXPECT_THROWS(DataError, compare_sets(numbers, others),
                "rows: should have the features of rows: wanted a, b, c; found a, c, b");
}

TEST(Verdict, IsPlainAboutTheMiddle) {
  SetComparison comparison;
  comparison.statistics = {{"mean brightness", 0.6, true, 0, 0}, {"edge energy", 0.8129, false, 0, 0}};
  EXPECT_EQ(verdict(comparison)[0],
            "edge energy alone partly tells the sets apart: 81.3; a detector should do much better");
  comparison.statistics[1].auroc = 0.99999;
  EXPECT_EQ(verdict(comparison)[0], "separable by edge energy alone: 99.9");
  comparison.statistics[1].auroc = 0.631;
  EXPECT_EQ(verdict(comparison)[0], "trivial statistics hardly tell the sets apart: at most 63.1 (edge energy)");
}

TEST(ToJson, HoldsEverything) {
  auto out = 255 - strokes(100, 5);
  auto in = strokes(200, 4);
  out[2].copy_(in[1]);
  const auto found = compare_sets(unlabelled("mnist", in), unlabelled("omniglot", out));
  const auto json = nlohmann::json::parse(to_json(found));
  EXPECT_EQ(json["in"]["name"], "mnist");
  EXPECT_EQ(json["out"]["shape"], (std::vector<int64_t>{1, 8, 8}));
  EXPECT_EQ(json["trivial_auroc"], found.trivial_auroc());
  EXPECT_EQ(json["trivial_statistic"], found.strongest_statistic().name);
  EXPECT_EQ(json["statistics"].size(), 6u);
  EXPECT_EQ(json["statistics"][0]["higher"], "out");
  EXPECT_EQ(json["opposite_polarity"], true);
  EXPECT_EQ(json["exact_duplicates"]["count"], found.exact_duplicates.size());
  EXPECT_EQ(json["exact_duplicates"]["first"][0]["out"], 2);
  EXPECT_EQ(json["verdict"].get<Names>(), verdict(found));
}

}  // namespace
}  // namespace priornet
