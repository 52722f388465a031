#include <priornet/uncertainty/curves.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <cmath>
#include <random>

namespace priornet {
namespace {

struct CurveScores {
  std::vector<double> positive;
  std::vector<double> negative;

  Ranking ranking() const { return Ranking({positive, negative}); }
};

CurveScores overlapping(size_t count) {
  std::mt19937 generator(4);
  std::normal_distribution<double> normal;
  CurveScores scores;
  for (size_t i = 0; i < count; ++i) {
    scores.positive.push_back(1.2 + normal(generator));
    scores.negative.push_back(normal(generator));
  }
  return scores;
}

double trapezoids(const Curve& curve) {
  double area = 0;
  for (size_t i = 1; i < curve.x.size(); ++i) area += (curve.x[i] - curve.x[i - 1]) * (curve.y[i] + curve.y[i - 1]) / 2;
  return area;
}

// By hand: 3+ above everything, then a tie of a positive and a negative, then a negative.
TEST(RocCurve, StepsOverTiesAtOnce) {
  const CurveScores scores{{3, 2}, {2, 1}};
  const auto curve = roc_curve(scores.ranking());
  EXPECT_EQ(curve.x, (std::vector<double>{0, 0, 0.5, 1}));
  EXPECT_EQ(curve.y, (std::vector<double>{0, 0.5, 1, 1}));
}

TEST(PrecisionRecallCurve, BeginsAtThePrecisionOfTheFirstThreshold) {
  const CurveScores scores{{3, 2}, {2, 1}};
  const auto curve = precision_recall_curve(scores.ranking());
  EXPECT_EQ(curve.x, (std::vector<double>{0, 0.5, 1, 1}));
  EXPECT_EQ(curve.y, (std::vector<double>{1, 1, 2.0 / 3.0, 0.5}));
}

TEST(Curves, HaveTheAreasOfTheMetrics) {
  const auto scores = overlapping(3000);
  const auto metrics = roc_metrics(scores.ranking());
  EXPECT_NEAR(trapezoids(roc_curve(scores.ranking())), metrics.auroc, 1e-12);
  EXPECT_NEAR(trapezoids(precision_recall_curve(scores.ranking())), metrics.aupr, 1e-12);
}

TEST(ThinnedCurve, KeepsAreaAndEndsInAFewPoints) {
  const auto whole = roc_curve(overlapping(3000).ranking());
  ASSERT_GT(whole.x.size(), 3000u);
  const auto thin = thinned(whole);
  EXPECT_LE(thin.x.size(), 200u);
  EXPECT_NEAR(trapezoids(thin), trapezoids(whole), 1e-3);
  EXPECT_EQ(thin.x.front(), 0.0);
  EXPECT_EQ(thin.y.back(), 1.0);
  EXPECT_TRUE(std::is_sorted(thin.x.begin(), thin.x.end()));
}

TEST(ThinnedCurve, StopsAtTheToleranceOrTheNumberOfPoints) {
  const auto whole = roc_curve(overlapping(3000).ranking());
  EXPECT_LT(thinned(whole, {.points = 200, .tolerance = 0.02}).x.size(), 12u);
  EXPECT_EQ(thinned(whole, {.points = 7, .tolerance = 0.0}).x.size(), 7u);
}

TEST(ThinnedCurve, LeavesACornerAndDropsWhatLiesOnALine) {
  const Curve corner{{0, 0, 0, 0.5, 1}, {0, 0.5, 1, 1, 1}};
  const auto thin = thinned(corner);
  EXPECT_EQ(thin.x, (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(thin.y, (std::vector<double>{0, 1, 1}));
}

TEST(ThinnedCurve, RejectsWhatIsNoCurve) {
  EXPECT_THROWS(ArgumentError, thinned({{0, 1}, {0}}), "thinned: x and y should have the same length, found 2 and 1");
  EXPECT_THROWS(ArgumentError, thinned({{0}, {0}}, {.points = 1, .tolerance = 0}),
                "thinned: points should be at least 2, found 1");
}

}  // namespace
}  // namespace priornet
