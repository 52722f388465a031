#include <gtest/gtest.h>
#include <priornet/uncertainty/curves.h>
#include <priornet/uncertainty/errors.h>

#include <cmath>
#include <vector>

namespace priornet {
namespace {

using Values = std::vector<double>;

TEST(RiskCoverage, IsTheMeanErrorOfWhatIsKept) {
  const auto curve = risk_coverage(Values{0.1, 0.4, 0.2, 0.3}, Values{0, 1, 1, 0});
  EXPECT_EQ(curve.coverage, (Values{0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(curve.risk, (Values{0, 0.5, 1.0 / 3, 0.5}));
  EXPECT_NEAR(curve.area, (0.5 + 1.0 / 3 + 0.5) / 4, 1e-15);
  EXPECT_NEAR(curve.excess, curve.area - (1.0 / 3 + 0.5) / 4, 1e-15);
}

TEST(RiskCoverage, GivesRowsThatTieTheirMean) {
  const auto curve = risk_coverage(Values{1, 1, 1, 1}, Values{0, 0, 1, 1});
  EXPECT_EQ(curve.risk, (Values{0.5, 0.5, 0.5, 0.5}));
}

TEST(PredictionRejection, IsOneForThePerfectOrderAndMinusOneForTheWorst) {
  const Values error{0, 0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(prediction_rejection_ratio(Values{1, 2, 3, 4, 5}, error), 1.0);
  EXPECT_DOUBLE_EQ(prediction_rejection_ratio(Values{5, 4, 3, 2, 1}, error), -1.0);
  EXPECT_NEAR(prediction_rejection_ratio(Values{1, 1, 1, 1, 1}, error), 0.0, 1e-15);
}

TEST(PredictionRejection, IsNotANumberWhereThereIsNothingToTell) {
  EXPECT_TRUE(std::isnan(prediction_rejection_ratio(Values{1, 2}, Values{0, 0})));
  EXPECT_TRUE(std::isnan(prediction_rejection_ratio(Values{1, 2}, Values{1, 1})));
}

TEST(RiskCoverage, RejectsLengthsThatDiffer) {
  EXPECT_THROW(risk_coverage(Values{1}, Values{}), ArgumentError);
  EXPECT_THROW(risk_coverage(Values{NAN}, Values{0}), ArgumentError);
}

}  // namespace
}  // namespace priornet
