#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <testing/score_samples.h>
#include <testing/throws.h>

#include <boost/math/distributions/normal.hpp>

namespace priornet {
namespace {

double wins(double positive, double negative) { return positive > negative ? 1.0 : positive == negative ? 0.5 : 0.0; }

// Mean of wins over the other set, for each score of one set: P x N comparisons.
struct SlowComponents {
  std::vector<double> positive;
  std::vector<double> negative;

  explicit SlowComponents(const ScoreSamples& scores)
      : positive(scores.positive.size()), negative(scores.negative.size()) {
    for (size_t i = 0; i < positive.size(); ++i)
      for (size_t j = 0; j < negative.size(); ++j) {
        const double win = wins(scores.positive[i], scores.negative[j]);
        positive[i] += win / static_cast<double>(negative.size());
        negative[j] += win / static_cast<double>(positive.size());
      }
  }
};

double slow_covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double sum_a = 0, sum_b = 0, sum_ab = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum_a += a[i];
    sum_b += b[i];
    sum_ab += a[i] * b[i];
  }
  return (sum_ab - sum_a * sum_b / n) / (n - 1) / n;
}

double slow_covariance(const SlowComponents& a, const SlowComponents& b) {
  return slow_covariance(a.positive, b.positive) + slow_covariance(a.negative, b.negative);
}

// By hand: positives 3, 1 against negatives 2, 0 have components 1, 1/2 and 1/2, 1; each sample variance is 1/8.
TEST(DelongVariance, MatchesAHandComputedExample) {
  EXPECT_NEAR(delong_variance(Ranking(ScoreSamples{{3, 1}, {2, 0}}.sets())), 0.125 / 2 + 0.125 / 2, 1e-15);
}

TEST(DelongVariance, AgreesWithTheDefinitionOnRandomScores) {
  std::mt19937_64 random(3);
  for (const double grid : {0.0, 0.1, 1.0})
    for (const auto& [positives, negatives] : {std::pair{2, 2}, {5, 80}, {120, 75}}) {
      const auto scores = normal_samples({positives, negatives, 1.0, grid}, random);
      const SlowComponents slow(scores);
      EXPECT_NEAR(delong_variance(Ranking(scores.sets())), slow_covariance(slow, slow), 1e-14);
    }
}

// AUROC 3/4, so the odds are 3 and A (1 - A) is 3/16.
TEST(DelongInterval, IsSymmetricInTheLogarithmOfTheOdds) {
  const auto interval = delong_interval(Ranking(ScoreSamples{{3, 1}, {2, 0}}.sets()));
  const double factor = std::exp(1.959963984540054 * std::sqrt(0.125) / (3.0 / 16));
  EXPECT_NEAR(interval.low, 3 / factor / (1 + 3 / factor), 1e-12);
  EXPECT_NEAR(interval.high, 3 * factor / (1 + 3 * factor), 1e-12);
}

TEST(DelongInterval, IsEverythingForASingleScore) {
  const auto single = delong_interval(Ranking(ScoreSamples{{3}, {2, 0}}.sets()));
  EXPECT_EQ(single.low, 0.0);
  EXPECT_EQ(single.high, 1.0);
}

// Three pairs of different inputs all went one way: that happens in 5 % of draws if one pair does with 0.05^(1/3).
TEST(DelongInterval, IsNoPointWhereNothingVaries) {
  const double bound = std::cbrt(0.05);
  const auto expect = [](const ScoreSamples& scores, double low, double high) {
    const auto interval = delong_interval(Ranking(scores.sets()));
    EXPECT_NEAR(interval.low, low, 1e-12);
    EXPECT_NEAR(interval.high, high, 1e-12);
  };
  expect({{3, 4, 5}, {2, 0, 1, 0}}, bound, 1.0);
  expect({{2, 0, 1, 0}, {3, 4, 5}}, 0.0, 1 - bound);
  expect({{1, 1, 1}, {1, 1, 1, 1}}, bound / 2, 1 - bound / 2);
}

// AUROC of N(1.5, 1) against N(0, 1) is Phi(1.5 / sqrt 2). 400 samples put the share within 0.95 +- 0.03.
TEST(DelongInterval, CoversTheTruth95PercentOfTheTime) {
  const double truth = boost::math::cdf(boost::math::normal(), 1.5 / std::sqrt(2.0));
  std::mt19937_64 random(4);
  int covered = 0;
  for (int i = 0; i < 400; ++i) {
    const auto interval = delong_interval(Ranking(normal_samples({}, random).sets()));
    covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, 0.91 * 400);
  EXPECT_LE(covered, 0.98 * 400);
}

// An interval of AUROC +- 1.96 standard errors covers 80 and 90 % here.
TEST(DelongInterval, CoversAnAreaNearOneToo) {
  constexpr double kTruth = 0.99;
  constexpr int kDraws = 2000;
  const double distance = std::sqrt(2.0) * boost::math::quantile(boost::math::normal(), kTruth);
  for (const int size : {50, 200}) {
    std::mt19937_64 random(11);
    int covered = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto interval = delong_interval(Ranking(normal_samples({size, size, distance}, random).sets()));
      covered += interval.low <= kTruth && kTruth <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, 0.92 * kDraws) << size;
    EXPECT_LE(covered, 0.99 * kDraws) << size;
  }
}

TEST(DelongPaired, AgreesWithTheDefinitionOnRandomScores) {
  std::mt19937_64 random(5);
  for (const double grid : {0.0, 0.25}) {
    const auto first = normal_samples({60, 90, 1.0, grid}, random);
    auto second = normal_samples({60, 90, 0.5, grid}, random);
    for (size_t i = 0; i < 60; ++i) second.positive[i] += first.positive[i];
    for (size_t i = 0; i < 90; ++i) second.negative[i] += first.negative[i];
    const SlowComponents a(first);
    const SlowComponents b(second);
    const auto result = delong_paired({first.sets(), second.sets()});
    EXPECT_NEAR(result.first, auroc(Ranking(first.sets())), 1e-14);
    EXPECT_NEAR(result.second, auroc(Ranking(second.sets())), 1e-14);
    EXPECT_NEAR(result.first_variance, slow_covariance(a, a), 1e-15);
    EXPECT_NEAR(result.second_variance, slow_covariance(b, b), 1e-15);
    EXPECT_NEAR(result.covariance, slow_covariance(a, b), 1e-15);
    EXPECT_GT(result.covariance, 0.2 * result.first_variance);  // the second score contains the first
    const double z = (result.first - result.second) /
                     std::sqrt(result.first_variance + result.second_variance - 2 * result.covariance);
    EXPECT_NEAR(result.difference_variance, result.first_variance + result.second_variance - 2 * result.covariance,
                1e-15);
    EXPECT_NEAR(result.z, z, 1e-11);
    EXPECT_NEAR(result.p_value, 2 * boost::math::cdf(boost::math::normal(), -std::abs(z)), 1e-12);
  }
}

TEST(DelongPaired, SeesNoDifferenceBetweenAScoreAndItself) {
  const ScoreSamples scores{{3, 1, 5}, {2, 0}};
  const auto result = delong_paired({scores.sets(), scores.sets()});
  EXPECT_EQ(result.z, 0.0);
  EXPECT_EQ(result.p_value, 1.0);
}

/// The positives, then the negatives.
std::vector<double> together(const ScoreSamples& scores) {
  auto all = scores.positive;
  all.insert(all.end(), scores.negative.begin(), scores.negative.end());
  return all;
}

// One positive and the negative next to it change places among n of each: AUROC changes by 1 / n^2, two components by
// 1 / n, and the variance is 2 / n^4. The variances themselves are 1e14 times larger.
TEST(DelongPaired, SeesHowMuchASinglePairMeans) {
  constexpr int kSize = 100000;
  std::mt19937_64 random(12);
  for (int draw = 0; draw < 3; ++draw) {
    const auto first = normal_samples({kSize, kSize, 1.5}, random);
    auto second = first;
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < 2 * kSize; ++i)
      order.emplace_back(i < kSize ? first.positive[i] : first.negative[i - kSize], i);
    std::sort(order.begin(), order.end());
    for (size_t i = kSize; i < 2 * kSize; ++i)
      if (order[i].second < kSize && order[i - 1].second >= kSize) {
        std::swap(second.positive[order[i].second], second.negative[order[i - 1].second - kSize]);
        break;
      }
    const auto result = delong_paired({first.sets(), second.sets()});
    EXPECT_NEAR(result.z, std::sqrt(0.5), 1e-5);
    EXPECT_NEAR(result.p_value, 2 * boost::math::cdf(boost::math::normal(), -std::sqrt(0.5)), 1e-5);
    const std::vector<double> marked[2] = {together(first), together(second)};
    std::vector<uint8_t> marks(2 * kSize, 0);
    std::fill_n(marks.begin(), kSize, 1);
    EXPECT_NEAR(delong_paired(MarkedScores{marked[0], marks}, MarkedScores{marked[1], marks}).z, result.z, 1e-5);
  }
}

// A score that separates the sets and one that knows nothing; and scores whose components all differ by 1/3, which is
// no number of float64.
TEST(DelongPaired, TestsNoDifferenceWithoutVariance) {
  const std::vector<std::pair<ScoreSamples, ScoreSamples>> pairs = {{{{3, 4}, {1, 2}}, {{1, 1}, {1, 1}}},
                                                                    {{{2, 4, 6}, {1, 3, 5}}, {{1, 3, 5}, {2, 4, 6}}}};
  for (const auto& [first, second] : pairs) {
    const std::vector<double> scores[2] = {together(first), together(second)};
    std::vector<uint8_t> marks;
    for (size_t i = 0; i < scores[0].size(); ++i) marks.push_back(i < first.positive.size() ? 1 : 0);
    for (const auto& result : {delong_paired({first.sets(), second.sets()}),
                               delong_paired(MarkedScores{scores[0], marks}, MarkedScores{scores[1], marks})}) {
      EXPECT_GT(result.first, result.second);
      EXPECT_EQ(result.difference_variance, 0.0);
      EXPECT_TRUE(std::isnan(result.z)) << result.z;
      EXPECT_TRUE(std::isnan(result.p_value)) << result.p_value;
    }
  }
}

TEST(DelongPaired, RefusesSetsThatCannotBePaired) {
  const ScoreSamples three{{3, 1, 5}, {2, 0}};
  const ScoreSamples two{{3, 1}, {2, 0}};
  EXPECT_THROWS(ArgumentError, delong_paired({three.sets(), two.sets()}),
                "delong_paired: positive should hold the same inputs, at least 2, for both scores, found 3 and 2");
  const ScoreSamples nan{{std::nan(""), 1}, {2, 0}};
  EXPECT_THROWS(ArgumentError, delong_paired({two.sets(), nan.sets()}),
                "delong_paired: second: positive[0] should be a number, found nan");
}

// Inputs with marks that come and go with a hidden variable, scored with noise: what the errors of two classifiers on
// one test set look like.
struct TwoClassifiers {
  std::vector<double> scores[2];
  std::vector<uint8_t> positive[2];

  TwoClassifiers(int64_t inputs, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < inputs; ++i) {
      const double hidden = normal(random);
      for (const int which : {0, 1}) {
        const double own = hidden + 0.5 * normal(random);
        positive[which].push_back(own > 0.8 ? 1 : 0);
        scores[which].push_back(own + normal(random));
      }
    }
  }

  MarkedScores marked(int which) const { return {scores[which], positive[which]}; }
};

TEST(DelongPairedMarks, AgreeWithTheTestOfSetsWhereThePositivesAreTheSame) {
  std::mt19937_64 random(5);
  TwoClassifiers both(60, random);
  both.positive[1] = both.positive[0];
  ScoreSamples sets[2];
  for (const int which : {0, 1})
    for (size_t i = 0; i < both.scores[which].size(); ++i)
      (both.positive[which][i] != 0 ? sets[which].positive : sets[which].negative).push_back(both.scores[which][i]);
  const auto wanted = delong_paired(PairedScores{sets[0].sets(), sets[1].sets()});
  const auto found = delong_paired(both.marked(0), both.marked(1));
  EXPECT_DOUBLE_EQ(found.first, wanted.first);
  EXPECT_NEAR(found.first_variance, wanted.first_variance, 1e-15);
  EXPECT_NEAR(found.covariance, wanted.covariance, 1e-15);
  EXPECT_NEAR(found.p_value, wanted.p_value, 1e-12);
}

TEST(DelongPairedMarks, KnowHowMuchTheDifferenceVaries) {
  std::mt19937_64 random(6);
  constexpr int kReplicates = 600;
  double sum = 0, squares = 0, estimated = 0;
  for (int r = 0; r < kReplicates; ++r) {
    const TwoClassifiers both(300, random);
    const auto found = delong_paired(both.marked(0), both.marked(1));
    sum += found.first - found.second;
    squares += (found.first - found.second) * (found.first - found.second);
    estimated += found.difference_variance;
  }
  const double variance = (squares - sum * sum / kReplicates) / (kReplicates - 1);
  // The standard error of a variance from 600 draws is 6 %.
  EXPECT_NEAR(estimated / kReplicates / variance, 1.0, 0.2);
}

TEST(DelongPairedMarks, RefuseWhatCannotBePaired) {
  const std::vector<double> scores{1, 2, 3, 4};
  const std::vector<uint8_t> one{1, 0, 0, 0}, two{1, 1, 0, 0};
  EXPECT_THROWS(ArgumentError, delong_paired(MarkedScores{scores, one}, MarkedScores{scores, two}),
                "delong_paired: positive should hold the same inputs, at least 2, for both scores, found 1 and 1");
  EXPECT_THROWS(ArgumentError, delong_paired(MarkedScores{std::span(scores).first(3), two}, MarkedScores{scores, two}),
                "delong_paired: each score should have a mark, found 3 scores and 4 marks");
}

}  // namespace
}  // namespace priornet
