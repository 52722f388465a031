#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/errors.h>
#include <testing/accuracy.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>

namespace priornet {
namespace {

exact::Real exact_log_density(const exact::Row& logits, const exact::Row& log_mu) {
  const auto alpha = exact::concentrations(logits);
  exact::Real sum = exact::lgamma(exact::sum(alpha));
  for (size_t c = 0; c < alpha.size(); ++c) sum += (alpha[c] - 1) * log_mu[c] - exact::lgamma(alpha[c]);
  return sum;
}

TEST(LogDensity, OfTheFlatDirichletIsTheLogarithmOfGamma) {
  const auto log_mu = torch::log_softmax(make_logits(Shape::kRandom, 4, 5, torch::kFloat64, 1, -3, 3), 1);
  EXPECT_TRUE(near(log_density(torch::zeros({4, 5}, torch::kFloat64), log_mu),
                   torch::full({4}, std::lgamma(5.0), torch::kFloat64)));
}

TEST(LogDensity, IsWithin1e11OfTheExactValue) {
  for (const int64_t classes : {2, 3, 10, 100}) {
    const auto logits = make_logits(Shape::kRandom, 12, classes, torch::kFloat64, 2);
    const auto log_mu = torch::log_softmax(make_logits(Shape::kRandom, 12, classes, torch::kFloat64, 3, -5, 5), 1);
    const auto values = log_density(logits, log_mu);
    WorstError worst{1e-11, 1e-13};
    for (int64_t n = 0; n < 12; ++n)
      worst.add(values[n].item<double>(), exact_log_density(exact_row(logits, n), exact_row(log_mu, n)),
                "row " + std::to_string(n));
    EXPECT_TRUE(within(worst)) << classes << " classes";
  }
}

// A class whose mu is 0 says nothing if its alpha is 1; else the density is 0 or infinite.
TEST(LogDensity, OfCornersIsInfiniteOrThatOfTheOtherClasses) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto log_mu = rows({{0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}}).log();
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const auto logits = rows({{1, 1, 1}, {1, 2, 1}, {0.5, 2, 1}, {3, 2, 1}}).log().to(dtype);
    const auto values = log_density(logits, log_mu.to(dtype)).to(torch::kFloat64);
    EXPECT_NEAR(values[0].item<double>(), std::log(2.0), 1e-6);  // Gamma(3)
    EXPECT_NEAR(values[1].item<double>(), std::log(6.0), 1e-6);  // Gamma(4) / Gamma(2)
    EXPECT_EQ(values[2].item<double>(), kInfinity);
    EXPECT_EQ(values[3].item<double>(), -kInfinity);
  }
  const auto both = log_density(rows({{0.5, 2, 3}}).log(), log_mu[0].unsqueeze(0));
  EXPECT_TRUE(std::isnan(both.item<double>()));
}

TEST(LogDensity, OfManyPointsIsThatOfEach) {
  const auto logits = make_logits(Shape::kRandom, 3, 4, torch::kFloat64, 4, -2, 5);
  const auto log_mu =
      torch::log_softmax(make_logits(Shape::kRandom, 6, 4, torch::kFloat64, 5, -2, 2), 1).view({2, 3, 4});
  const auto values = log_density(logits, log_mu);
  EXPECT_TRUE(near(values[0], log_density(logits, log_mu[0])));
  EXPECT_TRUE(near(values[1], log_density(logits, log_mu[1])));
}

TEST(LogDensity, GradientsAreWithin1e9OfExactDifferences) {
  const auto logits = make_logits(Shape::kRandom, 3, 4, torch::kFloat64, 6, -5, 15).requires_grad_();
  const auto log_mu = torch::log_softmax(make_logits(Shape::kRandom, 6, 4, torch::kFloat64, 7, -2, 2), 1)
                          .view({2, 3, 4})
                          .requires_grad_();
  const auto weights = rows({{1, 2, 3}, {4, 5, 6}});
  const auto gradients = torch::autograd::grad({log_density(logits, log_mu)}, {logits, log_mu}, {weights});
  WorstError worst{1e-9, 1e-13};
  for (int64_t n = 0; n < 3; ++n) {
    const auto z = exact_row(logits.detach(), n);
    for (int64_t c = 0; c < 4; ++c) {
      exact::Real in_z = 0;
      for (int64_t s = 0; s < 2; ++s) {
        const double weight = weights[s][n].item<double>();
        const auto at = exact_row(log_mu.detach()[s], n);
        in_z += weight * exact::derivative([&](const exact::Row& x) { return exact_log_density(x, at); }, z, c);
        worst.add(gradients[1][s][n][c].item<double>(),
                  weight * exact::derivative([&](const exact::Row& x) { return exact_log_density(z, x); }, at, c),
                  "log_mu of row " + std::to_string(n));
      }
      worst.add(gradients[0][n][c].item<double>(), in_z, "logits of row " + std::to_string(n));
    }
  }
  EXPECT_TRUE(within(worst));
}

TEST(LogDensityOfDraws, IsThatOfPoints) {
  for (const int64_t classes : {2, 3, 10, 100}) {
    const auto logits = make_logits(Shape::kRandom, 12, classes, torch::kFloat64, 2, -8, 8);
    const auto others = make_logits(Shape::kRandom, 12, classes, torch::kFloat64, 3, -8, 8);
    for (const auto& from : {logits, others}) {
      const auto log_mu = sample_log(from, {4, 1});
      EXPECT_TRUE(near(log_density_of_draws(logits, log_mu), log_density(logits, log_mu), 1e-11)) << classes;
    }
  }
}

TEST(LogDensityOfDraws, RejectsWhatAreNoDraws) {
  EXPECT_THROWS(ArgumentError, log_density_of_draws(torch::zeros({2, 3}), torch::zeros({1, 2, 3})),
                "log_density_of_draws: logits should be float64, found float32");
  EXPECT_THROWS(ArgumentError, log_density_of_draws(rows({{1, 2}}), torch::zeros({1, 1, 3}, torch::kFloat64)),
                "log_density_of_draws: log_mu[0] should be shaped like logits (shape [1, 2]), found shape [1, 3]");
}

TEST(LogDensity, RejectsPointsThatDoNotMatch) {
  EXPECT_THROWS(ArgumentError, log_density(torch::zeros({2, 3}), torch::zeros({2, 2})),
                "log_density: log_mu should be shaped like logits (shape [2, 3]), found shape [2, 2]");
  EXPECT_THROWS(ArgumentError, log_density(torch::zeros({2, 3}), torch::zeros({2, 3}).to(torch::kMeta)),
                "log_density: log_mu should be on cpu, like logits, found meta");
}

TEST(DirichletMode, IsWhereTheDensityIsHighest) {
  const auto logits = rows({{2, 3, 5}, {1.5, 1.5, 1.5}}).log();
  EXPECT_TRUE(near(dirichlet_mode(logits), rows({{1 / 7.0, 2 / 7.0, 4 / 7.0}, {1 / 3.0, 1 / 3.0, 1 / 3.0}})));
  const auto tiny = rows({{1e-12, 3e-12}});
  EXPECT_TRUE(near(dirichlet_mode(tiny), rows({{0.25, 0.75}}))) << "alpha - 1 must not cancel";
  EXPECT_TRUE(near(dirichlet_mode(rows({{300, 300}})), rows({{0.5, 0.5}}))) << "and not overflow";
}

TEST(DirichletMode, IsNaNWhereThereIsNone) {
  EXPECT_TRUE(dirichlet_mode(rows({{0.5, 3, 3}}).log()).isnan().all().item<bool>());
}

}  // namespace
}  // namespace priornet
