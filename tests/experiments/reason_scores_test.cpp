#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <cmath>
#include <numeric>

#include "tool/experiments/reasons.h"

namespace priornet {
namespace {

TEST(LabelEntropy, IsThatOfTheSharesOfPeople) {
  const auto entropy = label_entropy(torch::tensor({{50, 0, 0, 0}, {25, 25, 0, 0}, {3, 3, 3, 3}}, torch::kInt64));
  EXPECT_EQ(entropy[0].item<double>(), 0.0);
  EXPECT_NEAR(entropy[1].item<double>(), std::log(2.0), 1e-15);
  EXPECT_NEAR(entropy[2].item<double>(), std::log(4.0), 1e-15);
}

TEST(GroupsByAgreement, TakeEveryRowOnceAndThenAll) {
  const auto groups = groups_by_agreement(
      label_entropy(torch::tensor({{50, 0, 0}, {49, 1, 0}, {25, 25, 0}, {20, 20, 10}, {0, 0, 50}}, torch::kInt64)));
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_TRUE(groups[0].rows.equal(torch::tensor({0, 4}, torch::kInt64)));
  EXPECT_TRUE(groups[1].rows.equal(torch::tensor({1, 2}, torch::kInt64))) << "two labels alike are ln 2, not more";
  EXPECT_TRUE(groups[2].rows.equal(torch::tensor({3}, torch::kInt64)));
  EXPECT_EQ(groups[3].rows.size(0), 5);
}

// Dirichlets that share their mean between two classes ever more evenly, while the precision goes up and down.
TEST(CorrelateWithPeople, FindsTheMeasureThatAgrees) {
  std::vector<std::vector<double>> concentrations;
  std::vector<double> entropy;
  for (int i = 0; i < 40; ++i) {
    const double share = 0.01 * i, precision = i % 2 == 0 ? 1000 : 20;
    concentrations.push_back({precision * (1 - share) + 0.1, precision * share + 0.1, 0.1});
    entropy.push_back(i);
  }
  const auto of_people = vector(entropy);
  const auto correlations = correlate_with_people(scores_of_logits(rows(concentrations).log(), true), of_people, {});
  ASSERT_EQ(correlations.size(), 4u);
  EXPECT_EQ(correlations[1].measure, "expected_entropy");
  EXPECT_GT(correlations[1].spearman.value, 0.95);
  EXPECT_LT(correlations[2].spearman.value, 0.7) << "mutual information goes by the precision";
  EXPECT_LT(correlations[1].spearman.low, correlations[1].spearman.value);
  const auto of_softmax = correlate_with_people(scores_of_logits(rows(concentrations).log(), false), of_people, {});
  ASSERT_EQ(of_softmax.size(), 1u) << "a softmax alone has the entropy of its prediction, and no parts of it";
  EXPECT_EQ(of_softmax[0].measure, "entropy");
}

/// 1000 Dirichlets that are sure of a class, except for the first 20: sharper still, between two classes.
SetScores sure_scores() {
  auto logits = 5 + normal_draws(1000, 3, {7}).to(torch::kFloat64);
  for (int64_t row = 0; row < 1000; ++row) {
    logits[row][row % 3] += 5;
    if (row >= 20) continue;
    logits[row][row % 3] += 5;
    logits[row][(row + 1) % 3] = logits[row][row % 3];
  }
  return scores_of_logits(logits, true);
}

constexpr auto kAcceptAt = static_cast<size_t>(Verdict::kAccept);
constexpr auto kAmbiguousAt = static_cast<size_t>(Verdict::kAmbiguous);
constexpr auto kUnfamiliarAt = static_cast<size_t>(Verdict::kUnfamiliar);

TEST(VerdictShares, NameTheCause) {
  const auto inside = sure_scores();
  const auto flat = scores_of_logits(torch::zeros({50, 3}, torch::kFloat64), true);
  const auto shares = verdict_shares(
      inside, {{"torn", torch::arange(20)}, {"sure", torch::arange(20, 1000)}, {"all", torch::arange(1000)}},
      {{"flat", &flat}}, {});
  ASSERT_EQ(shares.size(), 4u);
  for (const auto& group : shares)
    EXPECT_NEAR(std::accumulate(group.shares.begin(), group.shares.end(), 0.0), 1.0, 1e-12) << group.group;
  EXPECT_EQ(shares[0].images, 20);
  EXPECT_GT(shares[0].shares[kAmbiguousAt], 0.8);
  EXPECT_GT(shares[1].shares[kAcceptAt], 0.93);
  EXPECT_NEAR(1 - shares[2].shares[kAcceptAt], 0.05, 0.025) << "false alarms";
  EXPECT_EQ(shares[3].group, "flat");
  EXPECT_EQ(shares[3].images, 50);
  EXPECT_NEAR(shares[3].shares[kUnfamiliarAt], 1.0, 1e-12);
}

TEST(VerdictShares, AreAFunctionOfTheSeed) {
  const auto inside = sure_scores();
  const std::vector<RowGroup> groups = {{"all", torch::arange(1000)}};
  const auto share = [&](uint64_t seed) {
    VerdictOptions options;
    options.seed = seed;
    return verdict_shares(inside, groups, {}, options)[0].shares;
  };
  EXPECT_EQ(share(1), share(1));
  EXPECT_NE(share(1), share(2));
}

// The thresholds of a fold come from the other folds: of 20 rows in two folds ten calibrate, and 1/11 is the smallest
// p-value. If all 20 calibrated, some rows would have 1/21.
TEST(VerdictShares, CalibrateOnRowsThatAreNotDecided) {
  SetScores few;
  few.probabilities = torch::tensor({{0.9, 0.1}}, torch::kFloat64).repeat({20, 1});
  const auto values = torch::arange(20, torch::kFloat64);
  few.columns = {{"energy", values}, {"entropy", values}};
  VerdictOptions options;
  options.folds = 2;
  options.false_alarm = 0.06;
  const std::vector<RowGroup> groups = {{"all", torch::arange(20)}, {"none", torch::empty({0}, torch::kInt64)}};
  for (options.seed = 0; options.seed < 20; ++options.seed) {
    const auto shares = verdict_shares(few, groups, {}, options);
    EXPECT_NEAR(shares[0].shares[kAcceptAt], 1.0, 1e-12) << options.seed;
    EXPECT_EQ(shares[1].images, 0);
    EXPECT_EQ(shares[1].shares[kAcceptAt], 0.0);
  }
  options.folds = 1;
  EXPECT_THROWS(ArgumentError, verdict_shares(few, {}, {}, options),
                "verdict_shares: folds should be at least 2, found 1");
}

// Of 0, 1, 2, 3: mean 1.5, variance 5/3.
TEST(MeanEstimate, HasTheIntervalOfAMean) {
  const auto estimate = mean_estimate(torch::arange(4, torch::kFloat64));
  EXPECT_DOUBLE_EQ(estimate.value, 1.5);
  EXPECT_NEAR(estimate.high - estimate.value, 1.96 * std::sqrt(5.0 / 12), 1e-4);
  EXPECT_DOUBLE_EQ(estimate.value - estimate.low, estimate.high - estimate.value);
}

}  // namespace
}  // namespace priornet
