#include <gtest/gtest.h>
#include <testing/score_samples.h>
#include "uncertainty/metrics/resampled_curves.h"

#include <array>
#include <cmath>

namespace priornet {
namespace {

std::vector<uint8_t> all_weights(const Resampler& resampler, int64_t index) {
  Resampler::Replicate replicate(resampler, index);
  std::vector<uint8_t> all;
  for (int64_t block = 0; block < resampler.blocks(); ++block) {
    const auto* weights = replicate.weights(block);
    all.insert(all.end(), weights, weights + resampler.order(block).size());
  }
  return all;
}

WeightTotals totals_of(const Ranking& ranking, const std::vector<uint8_t>& weights) {
  WeightTotals totals;
  for (size_t i = 0; i < weights.size(); ++i)
    ((ranking.order()[i] & Ranking::kPositive) != 0 ? totals.positive : totals.negative) += weights[i];
  return totals;
}

Ranking ranking_of(int positives, int negatives) {
  std::mt19937_64 random(7);
  return Ranking(normal_samples({.positives = positives, .negatives = negatives}, random).sets());
}

TEST(Resampler, DrawsSmallSetsExactly) {
  const auto ranking = ranking_of(30, 6000);
  const Resampler resampler(ranking, 1);
  for (int64_t index = 0; index < 20; ++index) {
    const auto totals = totals_of(ranking, all_weights(resampler, index));
    EXPECT_EQ(totals.positive, 30);
    EXPECT_EQ(totals.negative, 6000);
  }
}

TEST(Resampler, DrawsTheSmallSetExactlyBesideALargeOne) {
  const auto ranking = ranking_of(30, 100000);
  const Resampler resampler(ranking, 1);
  const auto totals = totals_of(ranking, all_weights(resampler, 0));
  EXPECT_EQ(totals.positive, 30);
  EXPECT_NE(totals.negative, 100000);
  EXPECT_NEAR(totals.negative, 100000, 5 * std::sqrt(1e5));
}

// Of a million Poisson(1) weights, each share lies within five standard errors and the rounding to 1/65536.
TEST(Resampler, GivesLargeSetsPoissonWeights) {
  const auto ranking = ranking_of(500000, 500000);
  const Resampler resampler(ranking, 1);
  std::array<double, 256> counts{};
  for (const auto weight : all_weights(resampler, 0)) ++counts[weight];
  double probability = std::exp(-1.0);
  for (int k = 0; k < 8; ++k) {
    EXPECT_NEAR(counts[static_cast<size_t>(k)] / 1e6, probability, 5 * std::sqrt(probability / 1e6) + 1.0 / 65536) << k;
    probability /= k + 1;
  }
}

// In n draws from n the count of one has mean 1 and variance 1 - 1/n.
TEST(Resampler, DrawsEveryScoreOfASmallSetAlike) {
  const auto ranking = ranking_of(5, 4);
  const Resampler resampler(ranking, 1);
  std::vector<double> sums(9), squares(9);
  constexpr int kReplicates = 20000;
  for (int64_t index = 0; index < kReplicates; ++index) {
    const auto weights = all_weights(resampler, index);
    for (size_t i = 0; i < 9; ++i) {
      sums[i] += weights[i];
      squares[i] += weights[i] * weights[i];
    }
  }
  for (size_t i = 0; i < 9; ++i) {
    const double n = (ranking.order()[i] & Ranking::kPositive) != 0 ? 5 : 4;
    EXPECT_NEAR(sums[i] / kReplicates, 1.0, 5 / std::sqrt(kReplicates));
    EXPECT_NEAR(squares[i] / kReplicates, 2.0 - 1 / n, 0.1);
  }
}

TEST(Resampler, MakesABlockAgainTheSame) {
  const auto ranking = ranking_of(30, 100000);
  const Resampler resampler(ranking, 1);
  const auto weights = all_weights(resampler, 3);
  EXPECT_EQ(weights, all_weights(resampler, 3));
  EXPECT_NE(weights, all_weights(resampler, 4));
  EXPECT_NE(weights, all_weights(Resampler(ranking, 2), 3));
  Resampler::Replicate replicate(resampler, 3);
  const auto totals = replicate.totals();
  EXPECT_EQ(totals.positive, totals_of(ranking, weights).positive);
  EXPECT_EQ(totals.negative, totals_of(ranking, weights).negative);
  const auto* block = replicate.weights(7);
  EXPECT_TRUE(std::equal(block, block + Resampler::kBlock, weights.begin() + 7 * Resampler::kBlock));
}

}  // namespace
}  // namespace priornet
