#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/errors.h>
#include <testing/accuracy.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <torch/csrc/autograd/autograd.h>

namespace priornet {
namespace {

exact::Real exact_kl(const exact::Row& z, const exact::Row& w) {
  return exact::kl_divergence(exact::concentrations(z), exact::concentrations(w));
}

/// Pairs of rows of every shape, the dominating class shared or not; the reverse direction is among them.
std::vector<std::pair<torch::Tensor, torch::Tensor>> pairs(int64_t rows, int64_t classes, torch::Dtype dtype) {
  std::vector<std::pair<torch::Tensor, torch::Tensor>> result;
  const auto shapes = {Shape::kRandom, Shape::kEqual, Shape::kDominated};
  for (const auto p : shapes)
    for (const auto q : shapes)
      result.emplace_back(make_logits(p, rows, classes, dtype, 11), make_logits(q, rows, classes, dtype, 12));
  result.emplace_back(result.back().first, result.back().first.roll(1, 0));
  return result;
}

void expect_accurate(torch::Dtype dtype, double relative, double absolute) {
  for (const int64_t classes : {2, 3, 10, 100, 1000}) {
    const int64_t rows = classes >= 1000 ? 1 : classes >= 100 ? 3 : 40;
    for (const auto& [p, q] : pairs(rows, classes, dtype)) {
      const auto values = kl_divergence(p, q).to(torch::kFloat64);
      WorstError worst{relative, absolute};
      for (int64_t n = 0; n < rows; ++n)
        worst.add(values[n].item<double>(), exact_kl(exact_row(p, n), exact_row(q, n)), "row " + std::to_string(n));
      EXPECT_TRUE(within(worst)) << classes << " classes";
    }
  }
}

TEST(KlDivergence, Float64IsWithin1e11OfTheExactValue) { expect_accurate(torch::kFloat64, 1e-11, 1e-13); }

TEST(KlDivergence, Float32IsWithin1e6OfTheExactValue) { expect_accurate(torch::kFloat32, 1e-6, 1e-12); }

// KL[Dir(1,1) || Dir(2,1)]: the mean of ln(1 / (2m)) over [0, 1] is 1 - ln 2.
TEST(KlDivergence, MatchesAClosedForm) {
  EXPECT_TRUE(near(kl_divergence(rows({{1, 1}}).log(), rows({{2, 1}}).log()), vector({1 - std::log(2.0)})));
}

TEST(KlDivergence, OfARowFromItselfIsZeroAndOtherwisePositive) {
  const auto p = make_logits(Shape::kRandom, 30, 5, torch::kFloat64, 1);
  EXPECT_TRUE(near(kl_divergence(p, p), torch::zeros({30}, torch::kFloat64), 0));
  EXPECT_TRUE(kl_divergence(p, p + 1e-4 * torch::arange(5)).gt(0).all().item<bool>());
}

TEST(KlDivergence, NeverOverflows) {
  const auto z = vector({-3.4e38, -88, 0, 80, 3.4e38}).to(torch::kFloat32);
  const auto grid = torch::cartesian_prod({z, z});
  for (int64_t i = 0; i < grid.size(0); ++i)
    EXPECT_TRUE(kl_divergence(grid, grid.roll(i, 0)).isfinite().all().item<bool>());
}

TEST(KlDivergence, GradientsAreWithin1e9OfExactDifferences) {
  for (const int64_t classes : {2, 3, 10}) {
    for (const auto& [p_values, q_values] : pairs(4, classes, torch::kFloat64)) {
      const auto p = p_values.clone().requires_grad_();
      const auto q = q_values.clone().requires_grad_();
      const auto weights = vector({1, -2, 3, 4});
      const auto gradients = torch::autograd::grad({kl_divergence(p, q)}, {p, q}, {weights});
      WorstError worst{1e-9, 1e-13};
      for (int64_t n = 0; n < 4; ++n) {
        const auto z = exact_row(p_values, n), w = exact_row(q_values, n);
        const double weight = weights[n].item<double>();
        for (int64_t c = 0; c < classes; ++c) {
          const std::string place = "row " + std::to_string(n) + ", class " + std::to_string(c);
          worst.add(gradients[0][n][c].item<double>(),
                    weight * exact::derivative([&](const exact::Row& x) { return exact_kl(x, w); }, z, c),
                    place + " of p");
          worst.add(gradients[1][n][c].item<double>(),
                    weight * exact::derivative([&](const exact::Row& x) { return exact_kl(z, x); }, w, c),
                    place + " of q");
        }
      }
      EXPECT_TRUE(within(worst)) << classes << " classes";
    }
  }
}

TEST(KlDivergence, RejectsRowsThatDoNotMatch) {
  EXPECT_THROWS(ArgumentError, kl_divergence(torch::zeros({2, 3}), torch::zeros({2, 4})),
                "kl_divergence: q_logits should be shaped like p_logits (shape [2, 3]), found shape [2, 4]");
  EXPECT_THROWS(ArgumentError, kl_divergence(torch::zeros({2, 3}), torch::zeros({2, 3}, torch::kFloat64)),
                "kl_divergence: q_logits should be Float, like p_logits, found Double");
  EXPECT_THROWS(ArgumentError, kl_divergence(torch::zeros({2, 3}), torch::zeros({2, 3}).to(torch::kMeta)),
                "kl_divergence: q_logits should be on cpu, like p_logits, found meta");
}

}  // namespace
}  // namespace priornet
