#include "learning/synthesis/gaussians.h"
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <cmath>
#include <numbers>

namespace priornet {
namespace {

double fraction(const torch::Tensor& flags) { return flags.to(torch::kFloat64).mean().item<double>(); }

torch::Tensor point(double x, double y) { return torch::tensor({{x, y}}, torch::kFloat64); }

TEST(GaussianMeans, StandAtEqualDistancesOnACircle) {
  const auto centres = means({.sigma = 1.0, .radius = 4.0});
  EXPECT_TRUE(centres.norm(2, 1).allclose(torch::full({3}, 4.0, torch::kFloat64)));
  for (int64_t a = 0; a < 3; ++a)
    EXPECT_NEAR((centres[a] - centres[(a + 1) % 3]).norm().item<double>(), 4.0 * std::numbers::sqrt3, 1e-12);
}

TEST(GaussianSample, HasTheMomentsOfItsClasses) {
  const GaussianClasses classes{.sigma = 2.0};
  const auto [points, labels] = sample(classes, 90000, 5);
  EXPECT_EQ(points.scalar_type(), torch::kFloat32);
  for (int64_t c = 0; c < 3; ++c) {
    const auto members = points.index({labels == c}).to(torch::kFloat64);
    EXPECT_NEAR(members.size(0), 30000, 5 * std::sqrt(20000.0));
    const auto offset = members - means(classes)[c];
    EXPECT_LT(offset.mean(0).abs().max().item<double>(), 5 * 2.0 / std::sqrt(30000.0));
    const auto covariance = offset.t().matmul(offset) / members.size(0);
    EXPECT_LT((covariance - 4.0 * torch::eye(2, torch::kFloat64)).abs().max().item<double>(), 0.17);
  }
}

TEST(GaussianSample, RepeatsItselfForOneSeedOnly) {
  const GaussianClasses classes{.sigma = 1.0};
  EXPECT_TRUE(sample(classes, 100, 3).points.equal(sample(classes, 100, 3).points));
  EXPECT_FALSE(sample(classes, 100, 3).points.equal(sample(classes, 100, 4).points));
  EXPECT_TRUE(sample_outside(classes, 100, 3).equal(sample_outside(classes, 100, 3)));
  EXPECT_FALSE(sample_outside(classes, 100, 3).equal(sample_outside(classes, 100, 4)));
}

// Bayes' rule with the densities written out; in long double because they underflow far from a mean.
TEST(PosteriorEntropy, AgreesWithBayesRule) {
  for (const double sigma : {1.0, 4.0}) {
    const GaussianClasses classes{.sigma = sigma};
    const auto centres = means(classes);
    const auto points = torch::rand({200, 2}, torch::kFloat64) * 40 - 20;
    const auto found = posterior_entropy(classes, points);
    for (int64_t i = 0; i < points.size(0); ++i) {
      long double density[3], total = 0, entropy = 0;
      for (int64_t c = 0; c < 3; ++c) {
        const long double distance = (points[i] - centres[c]).norm().item<double>();
        total += density[c] = std::exp(-distance * distance / (2.0L * sigma * sigma));
      }
      for (const auto value : density)
        if (value > 0) entropy -= value / total * std::log(value / total);
      EXPECT_NEAR(found[i].item<double>(), static_cast<double>(entropy), 1e-12) << points[i];
    }
  }
}

TEST(PosteriorEntropy, IsLn3AtTheCentreAndVanishesAlongAMean) {
  for (const double sigma : {1.0, 4.0}) {
    const GaussianClasses classes{.sigma = sigma};
    EXPECT_NEAR(posterior_entropy(classes, point(0, 0)).item<double>(), std::log(3.0), 1e-15);
    EXPECT_NEAR(posterior_entropy(classes, point(0, 1e4)).item<double>(), 0.0, 1e-300);
    // The boundary of the two lower classes runs straight down, however far.
    EXPECT_NEAR(posterior_entropy(classes, point(0, -1e4)).item<double>(), std::numbers::ln2, 1e-9);
  }
}

TEST(BayesError, AgreesWithTheBayesClassifierOnAMillionPoints) {
  for (const double sigma : {1.0, 2.0, 4.0}) {
    const GaussianClasses classes{.sigma = sigma};
    const auto [points, labels] = sample(classes, 1000000, 11);
    const double exact = bayes_error(classes);
    const double measured = fraction(log_posterior(classes, points).argmax(1) != labels);
    EXPECT_NEAR(measured, exact, 5 * std::sqrt(exact * (1 - exact) / 1e6)) << "sigma " << sigma;
  }
}

TEST(BayesError, TendsToAGuessAndToNothing) {
  EXPECT_NEAR(bayes_error({.sigma = 100.0}), 2.0 / 3.0, 0.02);
  EXPECT_LT(bayes_error({.sigma = 100.0}), 2.0 / 3.0);
  EXPECT_EQ(bayes_error({.sigma = 0.05}), 0.0);
}

// At sigma 1 the discs of 3 sigma do not meet, so nearly all of the exp(-4.5) is outside; at sigma 4 a point that
// left its own disc is often in another.
TEST(DataRegion, LeavesOutAsMuchOfTheDataAsItSays) {
  const auto outside = [](double sigma) {
    const GaussianClasses classes{.sigma = sigma};
    return 1.0 - fraction(in_data_region(classes, sample(classes, 400000, 2).points));
  };
  EXPECT_NEAR(outside(1.0), std::exp(-4.5), 5 * std::sqrt(std::exp(-4.5) / 4e5));
  EXPECT_LT(outside(4.0), std::exp(-4.5));
  EXPECT_GT(outside(4.0), 0.0);
}

TEST(SampleOutside, FillsTheSquareAndAvoidsTheRegion) {
  for (const double sigma : {1.0, 4.0}) {
    const GaussianClasses classes{.sigma = sigma};
    const auto points = sample_outside(classes, 20001, 9);
    EXPECT_EQ(points.size(0), 20001);
    EXPECT_FALSE(in_data_region(classes, points).any().item<bool>());
    EXPECT_LE(points.abs().max().item<double>(), kHalfSide);
    EXPECT_GT(points.abs().max().item<double>(), kHalfSide - 0.1);
    // Quadrants left and right of the axis of symmetry hold equally many.
    EXPECT_NEAR(fraction(points.select(1, 0) > 0), 0.5, 5 * 0.5 / std::sqrt(20001.0));
  }
}

TEST(Gaussians, RejectWhatTheyCannotTake) {
  EXPECT_THROWS(ArgumentError, means({.sigma = 0.0}), "means: sigma should be positive, found 0");
  EXPECT_THROWS(ArgumentError, sample({}, -1, 0), "sample: count should be at least 0, found -1");
  EXPECT_THROWS(ArgumentError, posterior_entropy({}, torch::zeros({5, 3})),
                "log_posterior: the second size of points should be 2, found 3");
  EXPECT_THROWS(ArgumentError, sample_outside({.sigma = 9.0}, 10, 0),
                "sample_outside: sigma should be small enough that something lies outside, found 9");
}

}  // namespace
}  // namespace priornet
