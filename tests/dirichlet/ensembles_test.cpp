#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measures.h>
#include <priornet/uncertainty/random.h>
#include <testing/accuracy.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include <torch/csrc/autograd/autograd.h>

namespace priornet {
namespace {

torch::Tensor make_ensemble(int64_t members, int64_t rows, int64_t classes, torch::Dtype dtype, double low = -20,
                            double high = 40) {
  return make_logits(Shape::kRandom, members * rows, classes, dtype, 21, low, high).view({members, rows, classes});
}

TEST(SoftmaxMeasures, AreTheDirichletMeasuresThatNeedNoPrecision) {
  const auto logits = make_logits(Shape::kRandom, 20, 7, torch::kFloat64, 1);
  const auto softmax = softmax_measures(logits);
  const auto dirichlet = dirichlet_measures(logits);
  EXPECT_TRUE(softmax.prediction.equal(dirichlet.prediction));
  EXPECT_TRUE(near(softmax.max_prob, dirichlet.max_prob));
  EXPECT_TRUE(near(softmax.entropy, dirichlet.entropy));
}

TEST(SoftmaxMeasures, AreFiniteForAnyLogit) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const auto logits = rows({{kLargest, -kLargest, 0}, {kLargest, kLargest, -kLargest}, {0, 0, -kLargest}});
  const auto wanted = vector({0, std::log(2.0), std::log(2.0)});
  EXPECT_TRUE(near(softmax_measures(logits).entropy, wanted));
  EXPECT_FALSE(std::signbit(softmax_measures(logits).entropy[0].item<double>()));
  const auto pair = ensemble_measures(torch::stack({logits, logits}));
  EXPECT_TRUE(near(pair.expected_entropy, wanted));
  EXPECT_TRUE(near(pair.mutual_information, torch::zeros({3})));
  const auto apart = dirichlet_ensemble_measures(torch::stack({logits, logits.flip(1)}), {.samples = 0});
  EXPECT_TRUE(near(apart.mutual_information_y_theta, vector({std::log(2.0), std::log(2.0) / 2, std::log(2.0) / 2})));
  const auto leaf = logits.detach().requires_grad_();
  const auto gradient = torch::autograd::grad({softmax_measures(leaf).entropy.sum()}, {leaf})[0];
  EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << gradient;
}

TEST(EnsembleMeasures, MatchAHandComputedPair) {
  // Members (0.9, 0.1) and (0.1, 0.9): the mean is even, and each member is 0.325 nats uncertain.
  const auto m = ensemble_measures(rows({{0.9, 0.1}, {0.1, 0.9}}).log().unsqueeze(1));
  const double member = -(0.9 * std::log(0.9) + 0.1 * std::log(0.1));
  EXPECT_TRUE(near(m.entropy, vector({std::log(2.0)})));
  EXPECT_TRUE(near(m.expected_entropy, vector({member})));
  EXPECT_TRUE(near(m.mutual_information, vector({std::log(2.0) - member})));
  EXPECT_TRUE(near(m.max_prob, vector({0.5})));
}

exact::Real exact_information(const torch::Tensor& logits, int64_t n) {
  const int64_t members = logits.size(0);
  exact::Real sum = 0;
  std::vector<exact::Row> p;
  exact::Row mean(logits.size(2), exact::Real(0));
  for (int64_t m = 0; m < members; ++m) {
    p.push_back(exact::concentrations(exact_row(logits[m], n)));
    const auto total = exact::sum(p[m]);
    for (size_t c = 0; c < p[m].size(); ++c) mean[c] += (p[m][c] /= total) / members;
  }
  for (const auto& row : p)
    for (size_t c = 0; c < row.size(); ++c) sum += row[c] * (log(row[c]) - log(mean[c])) / members;
  return sum;
}

TEST(EnsembleMeasures, AreAsExactAsASingleModels) {
  for (const auto dtype : {torch::kFloat64, torch::kFloat32}) {
    const auto logits = make_ensemble(5, 20, 10, dtype);
    const auto m = ensemble_measures(logits);
    WorstError worst = dtype == torch::kFloat64 ? WorstError{1e-11, 1e-13} : WorstError{1e-6, 1e-12};
    for (int64_t n = 0; n < 20; ++n)
      worst.add(m.mutual_information[n].item<double>(), exact_information(logits, n), "row " + std::to_string(n));
    EXPECT_TRUE(within(worst));
    EXPECT_TRUE(near(m.entropy, m.expected_entropy + m.mutual_information, 1e-6));
  }
}

TEST(EnsembleMeasures, OfIdenticalMembersHaveNoModelUncertainty) {
  const auto one = make_logits(Shape::kRandom, 6, 4, torch::kFloat64, 2);
  const auto m = ensemble_measures(one.expand({3, 6, 4}));
  EXPECT_TRUE(near(m.mutual_information, torch::zeros({6}, torch::kFloat64), 1e-14));
  EXPECT_TRUE(near(m.entropy, entropy(one)));
}

TEST(DirichletEnsembleMeasures, OfOneMemberAreItsOwn) {
  const auto logits = make_logits(Shape::kRandom, 8, 5, torch::kFloat64, 3, -3, 8);
  const auto ensemble = dirichlet_ensemble_measures(logits.unsqueeze(0));
  const auto single = dirichlet_measures(logits);
  EXPECT_TRUE(near(ensemble.entropy, single.entropy));
  EXPECT_TRUE(near(ensemble.expected_entropy, single.expected_entropy));
  EXPECT_TRUE(near(ensemble.mutual_information, single.mutual_information));
  EXPECT_TRUE(near(ensemble.differential_entropy, single.differential_entropy));
  EXPECT_TRUE(near(ensemble.precision, single.precision));
  for (const auto& none : {ensemble.epkl, ensemble.mutual_information_mu_theta, ensemble.mutual_information_y_theta})
    EXPECT_TRUE(near(none, torch::zeros({8}, torch::kFloat64), 1e-12));
}

TEST(DirichletEnsembleMeasures, SplitTheTotalUncertainty) {
  const auto m = dirichlet_ensemble_measures(make_ensemble(4, 10, 5, torch::kFloat64, -3, 6));
  EXPECT_TRUE(near(m.entropy, m.expected_entropy + m.mutual_information));
  EXPECT_TRUE(m.mutual_information_y_theta.le(m.mutual_information).all().item<bool>());
}

// If two members never overlap, any mu tells which of them it is from: I[mu, theta] = ln 2. For Beta(2,1) and Beta(1,2)
// it is the integral of m ln 2m + (1-m) ln 2(1-m) over [0, 1]: ln 2 - 1/2.
TEST(DirichletEnsembleMeasures, EstimateTheInformationBetweenMuAndTheta) {
  const auto apart = torch::stack({rows({{20, 5}}), rows({{5, 20}})});
  const auto m = dirichlet_ensemble_measures(apart);
  EXPECT_TRUE(near(m.mutual_information_mu_theta, vector({std::log(2.0)}), 1e-9));
  const auto overlapping = torch::stack({rows({{2, 1}}), rows({{1, 2}})}).log();
  const auto estimate = dirichlet_ensemble_measures(overlapping, {20000, 1});
  const double error = estimate.mutual_information_mu_theta_std_err.item<double>();
  EXPECT_NEAR(estimate.mutual_information_mu_theta.item<double>(), std::log(2.0) - 0.5, 4 * error);
  EXPECT_GT(error, 0.0005);
  EXPECT_LT(error, 0.01);
}

TEST(DirichletEnsembleMeasures, StandardErrorIsThatOfRepeatedEstimates) {
  const auto logits = torch::stack({rows({{2, 1}}), rows({{1, 2}})}).log().expand({2, 400, 2});
  const auto m = dirichlet_ensemble_measures(logits, {50, 3});
  const double spread = m.mutual_information_mu_theta.std().item<double>();
  EXPECT_NEAR(m.mutual_information_mu_theta_std_err.mean().item<double>() / spread, 1, 0.15);
}

// If one class is far ahead in all members, its logit does not change how different their Dirichlets are.
TEST(DirichletEnsembleMeasures, EstimateTheInformationOfPreciseMembersToo) {
  const auto information = [](double a, double b) {
    const auto ahead = torch::stack({rows({{a, 0, 0}}), rows({{a - 1, 1, 0}}), rows({{b, 0, -3}})});
    return dirichlet_ensemble_measures(ahead).mutual_information_mu_theta.item<double>();
  };
  const double wanted = information(20, 10);
  for (const double a : {30, 36, 40, 50, 60}) EXPECT_NEAR(information(a, a / 2), wanted, 1e-3) << a;
  const auto flat = torch::zeros({1, 3}, torch::kFloat64);
  for (const double a : {20, 40, 60, 300}) {
    const auto m = dirichlet_ensemble_measures(torch::stack({flat - a, flat + a, flat}));
    EXPECT_NEAR(m.mutual_information_mu_theta.item<double>(), std::log(3.0), 1e-6) << a;
  }
}

TEST(DirichletEnsembleMeasures, BoundTheInformationByThePairwiseDivergence) {
  const auto logits = make_ensemble(3, 12, 4, torch::kFloat64, -1, 4);
  const auto m = dirichlet_ensemble_measures(logits, {500, 4});
  EXPECT_TRUE(m.mutual_information_mu_theta.le(m.epkl).all().item<bool>());
  const auto wanted = (kl_divergence(logits[0], logits[1]) + kl_divergence(logits[1], logits[0]) +
                       kl_divergence(logits[0], logits[2]) + kl_divergence(logits[2], logits[0]) +
                       kl_divergence(logits[1], logits[2]) + kl_divergence(logits[2], logits[1])) /
                      9;
  EXPECT_TRUE(near(m.epkl, wanted));
}

TEST(EnsembleMeasures, AreDifferentiable) {
  const auto logits = make_ensemble(2, 3, 4, torch::kFloat64, -1, 3).requires_grad_();
  const auto information = [](const torch::Tensor& z) { return ensemble_measures(z).mutual_information.sum(); };
  const auto gradient = torch::autograd::grad({information(logits)}, {logits})[0];
  const auto direction = torch::randn_like(logits);
  const double step = 1e-5;
  const auto detached = logits.detach();
  const auto slope = (information(detached + step * direction) - information(detached - step * direction)) / (2 * step);
  EXPECT_TRUE(near((gradient * direction).sum(), slope, 1e-8));
}

TEST(DirichletEnsembleMeasures, LeaveTheEstimateOutWhereNoDrawsAreAskedFor) {
  const auto logits = torch::randn({2, 3, 4}, make_generator(1));
  const auto without = dirichlet_ensemble_measures(logits, {0, 0});
  EXPECT_FALSE(without.mutual_information_mu_theta.defined());
  EXPECT_FALSE(without.mutual_information_mu_theta_std_err.defined());
  EXPECT_TRUE(without.epkl.equal(dirichlet_ensemble_measures(logits).epkl));
}

TEST(EnsembleMeasures, RejectWhatIsNotAnEnsemble) {
  EXPECT_THROWS(
      ArgumentError, ensemble_measures(torch::zeros({3, 2})),
      "ensemble_measures: logits should be [M, N, K] with at least 1 member and 2 classes, found shape [3, 2]");
  EXPECT_THROWS(ArgumentError, dirichlet_ensemble_measures(torch::zeros({2, 3, 2}), {1, 0}),
                "dirichlet_ensemble_measures: samples should be at least 2, found 1");
}

}  // namespace
}  // namespace priornet
