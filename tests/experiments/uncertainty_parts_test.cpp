#include <priornet/uncertainty/errors.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include "tool/experiments/image_run.h"

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

/// The scores of two Dirichlets per row.
SetScores scores_of_two(const torch::Tensor& first, const torch::Tensor& second) {
  return scores_of_logits(torch::stack({first, second}).log(), true);
}

// Dirichlets that are sharp and alike have data uncertainty alone; flat and alike, distributional; sharp and different,
// model uncertainty.
TEST(UncertaintyParts, TellThreeKindsOfDoubtApart) {
  const auto sharp = scores_of_two(rows({{1e4, 1, 1}, {1, 1e4, 1}}), rows({{1e4, 1, 1}, {1, 1e4, 1}}));
  const auto ambiguous = scores_of_two(rows({{5e3, 5e3, 1}, {1, 5e3, 5e3}}), rows({{5e3, 5e3, 1}, {1, 5e3, 5e3}}));
  const auto flat = scores_of_two(rows({{1, 1, 1}, {1, 1, 1.1}}), rows({{1, 1, 1}, {1, 1, 1.1}}));
  const auto at_odds = scores_of_two(rows({{1e4, 1, 1}, {1, 1e4, 1}}), rows({{1, 1e4, 1}, {1, 1, 1e4}}));
  const auto sets = uncertainty_parts(sharp, {ambiguous, flat, at_odds});
  ASSERT_EQ(sets.size(), 4u);
  for (size_t kind = 0; kind < 3; ++kind) {
    const auto& means = sets[kind + 1].mean;
    // The flat Dirichlet of three classes also has data uncertainty, its expected entropy: 1/2 + 1/3 nats.
    if (kind != 1) {
      EXPECT_EQ(std::max_element(means.begin(), means.end()) - means.begin(), static_cast<int64_t>(kind));
    }
    EXPECT_EQ(sets[kind + 1].auroc[kind].value, 1.0);
  }
  EXPECT_NEAR(sets[2].mean[0], 5.0 / 6.0, 0.01);
  EXPECT_NEAR(sets[2].mean[1], std::log(3.0) - 5.0 / 6.0, 0.01);
  EXPECT_NEAR(sets[3].mean[2], std::log(2.0), 0.01);
  for (size_t part = 0; part < 3; ++part) EXPECT_LT(sets[0].mean[part], 0.01);
}

TEST(UncertaintyParts, AddUpToTheEntropy) {
  const auto scores = scores_of_two(rows({{3, 2, 1}, {7, 1, 2}}), rows({{1, 2, 9}, {4, 4, 4}}));
  const auto set = uncertainty_parts(scores, {})[0];
  EXPECT_NEAR(set.mean[0] + set.mean[1] + set.mean[2], scores.find("entropy")->mean().item<double>(), 1e-12);
}

TEST(UncertaintyParts, AreOfEnsemblesOfDirichletsAlone) {
  const auto softmax = scores_of_logits(rows({{1, 2}}), false);
  EXPECT_FALSE(has_uncertainty_parts(softmax));
  EXPECT_FALSE(has_uncertainty_parts(scores_of_logits(rows({{1, 2}}), true)));
  EXPECT_THROWS(ArgumentError, uncertainty_parts(softmax, {}),
                "uncertainty_parts: the scores should come from an ensemble of Dirichlets");
}

Evaluation evaluation_with(const std::string& measure, const torch::Tensor& inside, const torch::Tensor& outside) {
  Evaluation evaluation;
  evaluation.inside_scores.columns = {{measure, inside}};
  evaluation.outside_scores.resize(1);
  evaluation.outside_scores[0].columns = {{measure, outside}};
  return evaluation;
}

// The second model's confidence is reversed: high inside.
TEST(ModelComparison, ComparesMeasuresOfTheirOwn) {
  const auto better = evaluation_with("entropy", vector({0, 1, 2, 3}), vector({4, 5, 6, 7}));
  const auto worse = evaluation_with("max_prob", vector({0.9, 0.8, 0.5, 0.6}), vector({0.7, 0.4, 0.3, 0.2}));
  const auto pairs = compare_detection(better, "entropy", worse, "max_prob");
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].first, 1.0);
  EXPECT_EQ(pairs[0].second, 14.0 / 16.0);
  const auto distance = difference(pairs[0]);
  EXPECT_EQ(distance.value, 2.0 / 16.0);
  EXPECT_LT(distance.low, distance.value);
  EXPECT_NEAR(distance.high - distance.value, distance.value - distance.low, 1e-12);
  EXPECT_THROWS(ArgumentError, compare_detection(better, "entropy", worse, "entropy"),
                "compare_detection: a model has no measure entropy");
}

}  // namespace
}  // namespace priornet
