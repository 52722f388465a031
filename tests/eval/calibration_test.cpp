#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/errors.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <cmath>

namespace priornet {
namespace {

const auto kProbabilities = [] { return rows({{0.7, 0.2, 0.1}, {0.1, 0.8, 0.1}, {0.3, 0.3, 0.4}, {0.55, 0.4, 0.05}}); };
const auto kLabels = [] { return torch::tensor({0, 2, 2, 1}, torch::kInt64); };

TEST(Calibration, CountsErrors) { EXPECT_DOUBLE_EQ(error_rate(kProbabilities(), kLabels()), 0.5); }

TEST(Calibration, HasTheLikelihoodAndBriersScoreByHand) {
  EXPECT_NEAR(negative_log_likelihood(kProbabilities(), kLabels()),
              -(std::log(0.7) + std::log(0.1) + std::log(0.4) + std::log(0.4)) / 4, 1e-15);
  // 0.09 + 0.04 + 0.01; 0.01 + 0.64 + 0.81; 0.09 + 0.09 + 0.36; 0.3025 + 0.36 + 0.0025
  EXPECT_NEAR(brier_score(kProbabilities(), kLabels()), (0.14 + 1.46 + 0.54 + 0.665) / 4, 1e-15);
}

TEST(Calibration, HasNoMinusBeforeALikelihoodOfOne) {
  EXPECT_FALSE(std::signbit(negative_log_likelihood(rows({{1.0, 0.0}}), torch::tensor({0}, torch::kInt64))));
}

TEST(Calibration, RefusesWhatIsNoProbability) {
  const auto labels = torch::tensor({0, 0}, torch::kInt64);
  const auto values = rows({{0.5, 0.5}, {NAN, NAN}});
  EXPECT_THROWS(ArgumentError, error_rate(values, labels), "error_rate: probabilities should be finite, found nan");
  EXPECT_THROW(calibration_error(values, labels), ArgumentError);
}

TEST(Calibration, StaysFiniteWhereAProbabilityIsZero) {
  EXPECT_TRUE(std::isfinite(negative_log_likelihood(rows({{1.0, 0.0}}), torch::tensor({1}, torch::kInt64))));
}

// In two bins of equal width: (0, 0.5] holds 0.4, right; (0.5, 1] holds 0.55 wrong, 0.7 right, 0.8 wrong.
TEST(Calibration, WeighsBinsByTheirRows) {
  const double low = std::abs(0.4 - 1.0);
  const double high = std::abs((0.55 + 0.7 + 0.8) / 3 - 1.0 / 3);
  EXPECT_NEAR(calibration_error(kProbabilities(), kLabels(), Binning::kEqualWidth, 2), (low + 3 * high) / 4, 1e-15);
}

// Of two rows each: 0.4 right and 0.55 wrong; 0.7 right and 0.8 wrong.
TEST(Calibration, SharesRowsOutEvenlyIfAsked) {
  const double wanted = (std::abs(0.475 - 0.5) + std::abs(0.75 - 0.5)) / 2;
  EXPECT_NEAR(calibration_error(kProbabilities(), kLabels(), Binning::kEqualCount, 2), wanted, 1e-15);
  const auto bins = reliability(kProbabilities(), kLabels(), Binning::kEqualCount, 2);
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[1].rows, 2);
  EXPECT_NEAR(bins[1].confidence, 0.75, 1e-15);
}

// Three of four rows are equally sure and one of them is right: a bin that takes two of them cannot choose which.
TEST(Calibration, DoesNotDependOnTheOrderOfTies) {
  const auto p = rows({{0.7, 0.3}, {0.7, 0.3}, {0.7, 0.3}, {0.9, 0.1}});
  const double low = std::abs(0.7 - 1.0 / 3), high = std::abs(0.8 - 2.0 / 3);
  for (const auto& labels : {std::vector<int64_t>{0, 1, 1, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}})
    EXPECT_NEAR(calibration_error(p, torch::tensor(labels), Binning::kEqualCount, 2), (low + high) / 2, 1e-15);
}

TEST(Calibration, PutsAConfidenceOnTheEdgeIntoTheBinBelow) {
  const auto bins =
      reliability(rows({{0.5, 0.5}, {0.75, 0.25}}), torch::tensor({0, 0}, torch::kInt64), Binning::kEqualWidth, 4);
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0].confidence, 0.5);
}

// Labels drawn with the probabilities that are claimed: what is left is chance, about 1 / sqrt(rows of a bin).
TEST(Calibration, IsNearZeroWhereProbabilitiesAreTrue) {
  torch::manual_seed(3);
  const auto p = torch::softmax(2.0 * torch::randn({100000, 5}, torch::kFloat64), 1);
  const auto labels = torch::multinomial(p, 1).squeeze(1);
  for (const auto binning : {Binning::kEqualWidth, Binning::kEqualCount})
    EXPECT_LT(calibration_error(p, labels, binning), 0.01);
}

TEST(Calibration, RejectsLabelsThatDoNotFit) {
  EXPECT_THROW(error_rate(kProbabilities(), torch::tensor({0, 1}, torch::kInt64)), ArgumentError);
  EXPECT_THROW(calibration_error(kProbabilities(), kLabels(), Binning::kEqualWidth, 0), ArgumentError);
  EXPECT_THROWS(ArgumentError, error_rate(kProbabilities(), kLabels().to(torch::kMeta)),
                "error_rate: labels should be on cpu, like probabilities, found meta");
}

}  // namespace
}  // namespace priornet
