#include <priornet/deploy/export/gamma_graph.h>
#include <priornet/deploy/export/measure_graph.h>
#include <priornet/dirichlet/row.h>

#include <array>

// docs/math.md, section 3, as kl_row.h has it: pairs of members are the first two axes.

namespace priornet::graph {
namespace {

/// D(a) and M(a) of a = e^log_a.
struct LogGammaValues {
  Value a, log_a, d, m, second;

  explicit LogGammaValues(const Value& log_value) : a(exp(log_value)), log_a(log_value) {
    const auto values = gamma_values(a, log_a);
    d = values.big_d(log_a);
    m = values.m(log_a);
    second = trigamma_second(values);
  }
};

/// How much M and D fall from a to a + delta.
struct DecreaseValues {
  Value m, d;

  DecreaseValues(const LogGammaValues& from, const LogGammaValues& to, const Value& delta, const Value& ratio) {
    // Where delta is small, integrals by the Gauss-Legendre rule with five points, which are the first axis.
    constexpr std::array kNodes = {0.046910077030668004, 0.23076534494715845, 0.5, 0.7692346550528415,
                                   0.953089922969332};
    constexpr std::array kWeights = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
                                     0.11846344252809454};
    const auto along = [&](const char* name, const std::array<double, 5>& values) {
      const auto vector = torch::tensor(std::vector<double>(values.begin(), values.end()), torch::kFloat64);
      return delta.owner->tensor(name, vector.view({5, 1, 1, 1, 1}));
    };
    const auto is_large = ratio > 0.0625;
    const auto near = where(is_large, 0.0, ratio);
    const LogGammaValues at(unsqueeze(from.log_a, 0) + log1p(along("gauss_nodes", kNodes) * unsqueeze(near, 0)));
    const auto weights = along("gauss_weights", kWeights);
    const auto mean_m = sum(weights * at.d, 0);
    const auto mean_d = sum(weights * (at.second / at.a / at.a), 0);
    m = where(is_large, from.m - to.m, mean_m * delta);
    d = where(is_large, from.d - to.d, mean_d * delta);
  }
};

/// One of the two Dirichlets, with a class that dominates the first apart from the rest.
struct DirichletApart {
  LogGammaValues top;
  Value ratio, rest, growth;
  LogGammaValues total;
  DecreaseValues decrease;

  DirichletApart(const Value& z, const Value& is_top)
      : top(sum(where(is_top, z, 0.0), -1, true)),
        ratio(sum(where(is_top, 0.0, exp(z - top.log_a)), -1, true)),
        rest(ratio * top.a),
        growth(log1p(ratio)),
        total(top.log_a + growth),
        decrease(top, total, rest, ratio) {}
};

/// e^-s - 1 + s.
Value surplus_value(const Value& s) {
  const auto is_far = either(s > 0.1, s < -0.1);
  const auto near = where(is_far, 0.0, s);
  std::vector<double> coefficients = {0.0, 0.0};
  double coefficient = 1.0;
  for (int k = 2; k <= 12; ++k) {
    coefficient /= -k;
    coefficients.push_back(-coefficient);
  }
  return where(is_far, (exp(-s) - 1.0) + s, polynomial(near, coefficients));
}

}  // namespace

Value mean_divergence(const Value& logits, int64_t classes) {
  const auto clamped = clamp(logits, -kLargestLogit / 2, kLargestLogit / 2);
  const auto z = unsqueeze(clamped, 1);  // [M, 1, N, K]
  const auto w = unsqueeze(clamped, 0);  // [1, M, N, K]
  const auto indices = logits.owner->tensor("class_indices", torch::arange(classes, torch::kInt64));
  const auto is_top = equal(largest_index(z, -1, true), indices);
  const DirichletApart alpha(z, is_top);
  const DirichletApart beta(w, is_top);
  const auto log_ratio0 = (beta.top.log_a - alpha.top.log_a) + (beta.growth - alpha.growth);

  const auto of_top = beta.decrease.m - alpha.decrease.m + (beta.top.a - alpha.top.a) * alpha.decrease.d -
                      (beta.rest - alpha.rest) * alpha.total.d;
  const LogGammaValues a(z), b(w);
  const auto s = where(is_top, alpha.growth - beta.growth, (b.log_a - a.log_a) - log_ratio0);
  const auto others = (b.m - a.m) + (b.a - a.a) * a.d;
  const auto of_classes = sum(b.a * surplus_value(s) + where(is_top, 0.0, others), -1, true);
  return mean(mean(sum(of_top + of_classes, -1), 0), 0);
}

}  // namespace priornet::graph
