#include "deploy/export/measure_graph.h"

#include <priornet/uncertainty/measure_table.h>

#include <array>
#include <cmath>
#include <map>

#include "uncertainty/dirichlet/gamma.h"
#include "uncertainty/dirichlet/lanes.h"
#include "uncertainty/dirichlet/logit_row.h"

namespace priornet::graph {
namespace {

constexpr double kSteps = 6.0;

template <int kSize>
std::vector<double> coefficients_of(const Polynomial<kSize>& polynomial) {
  return {polynomial.coefficients, polynomial.coefficients + kSize};
}

// The product of a + 1 .. a + 5 for b = a + 3.
Value product_around(const Value& b) {
  const auto b2 = b * b;
  return b * ((b2 - 5.0) * b2 + 4.0);
}

}  // namespace

GammaValues gamma_values(const Value& alpha, const Value& log_alpha) {
  const auto is_small = alpha < kSteps;
  const auto small = cast(is_small, torch::kFloat64);
  const auto tame = where(is_small, alpha, 1.0);  // the branch that is not chosen should not overflow either
  const auto b = tame + 3.0;
  const auto b2 = b * b;
  const auto product = product_around(b);
  GammaValues values;
  values.alpha = alpha;
  values.steps = small * kSteps;
  const auto inverse_x = 1.0 / (alpha + values.steps);
  values.sum = small * ((5.0 * b2 - 15.0) * b2 + 4.0) / product;
  values.inverse_small = small / tame;
  values.inverse_large = (1.0 - small) * inverse_x;
  values.log_x = where(is_small, log(tame + kSteps), log_alpha);
  values.log_first = small * log_alpha;
  values.log_product = small * log(product);
  const auto y = inverse_x * inverse_x;
  values.d = inverse_x * 0.5 + y * polynomial(y, coefficients_of(DoubleDigits::d()));
  values.l = inverse_x * polynomial(y, coefficients_of(DoubleDigits::l()));
  return values;
}

Value trigamma_second(const GammaValues& gamma) {
  const auto alpha = gamma.alpha;
  const auto is_small = gamma.steps > 0.0;
  const auto inverse_x = 1.0 / (alpha + gamma.steps);
  const auto y = inverse_x * inverse_x;
  const auto remainder = 0.5 * inverse_x + y * polynomial(y, coefficients_of(DoubleDigits::t()));
  const auto tame = where(is_small, alpha, 1.0);
  const auto b = tame + 3.0;
  const auto squares = gamma.sum * gamma.sum - b * (20.0 * b * b - 30.0) / product_around(b);
  const auto shifted = tame * (inverse_x * (1.0 + remainder) + squares);
  return where(is_small, tame * (shifted - 1.0) + 1.0, alpha * remainder);
}

// docs/math.md, sections 2 and 4, as in measure_row.h and measures.cpp.

namespace {

/// Logits relative to their largest; sizes 1 along the last axis are kept.
struct Relative {
  Value top, t, exp_t, sum_exp, log_sum;

  explicit Relative(const Value& logits)
      : top(largest(logits, -1, true)),
        t(logits - top),
        exp_t(exp(t)),
        sum_exp(sum(exp_t, -1, true)),
        log_sum(log(sum_exp)) {}

  Value log_probabilities() const { return t - log_sum; }
};

using ValuesByName = std::map<std::string_view, Value>;

// Each [...] of logits [..., K].
ValuesByName dirichlet_values(const Value& logits, int64_t classes) {
  const Relative relative(logits);
  const auto inverse_sum = 1.0 / relative.sum_exp;
  const auto mean_over_classes = [&](const Value& values) {
    return sum(relative.exp_t * values, -1, true) * inverse_sum;
  };
  const auto z = clamp(logits, -kLargestLogit, kLargestLogit);
  const auto alpha = exp(z);
  const auto of_class = gamma_values(alpha, z);
  const auto K = static_cast<double>(classes);
  const auto z0 =
      at_least(clamp(relative.top, -kLargestLogit, kLargestLogit) + relative.log_sum, std::log(K) - kLargestLogit);
  const auto alpha0 = exp(z0);
  const auto total = gamma_values(alpha0, z0);

  const auto entropy = relative.log_sum - mean_over_classes(relative.t);
  const auto low = z0 < 0.0;
  const auto positive_z = at_least(z, 0.0);
  const auto positive = at_least(z0, 0.0);
  const auto mean_psi = mean_over_classes(of_class.psi_next(positive_z)) - total.psi_next(positive);
  const auto information = mean_psi + where(low, entropy, mean_over_classes(positive_z - z));
  const auto direct = (positive - mean_over_classes(positive_z)) - mean_psi;
  const auto rest = entropy - information;
  const auto data = where(either(low, rest < information), direct, rest);

  const auto terms = of_class.m_without_log_alpha() + of_class.log_x + (alpha - 1.0) * of_class.remainder();
  const auto differential = sum(terms, -1, true) - total.m_without_log_alpha() - alpha0 * total.remainder() -
                            K * total.psi() + (K - 1.0) * kHalfLog2Pi;
  const auto p = relative.exp_t * inverse_sum;
  const auto variance = sum(p * (1.0 - p), -1, true);
  const auto flat = [](const Value& values) { return sum(values, -1); };
  return {{"max_prob", flat(inverse_sum)},
          {"entropy", flat(entropy)},
          {"expected_entropy", flat(at_least(data, 0.0))},
          {"mutual_information", flat(at_least(information, 0.0))},
          {"differential_entropy", flat(differential)},
          {"precision", flat(alpha0)},
          {"expected_pairwise_kl", flat((K - 1.0) / alpha0)},
          {"epistemic_variance", flat(variance / (alpha0 + 1.0))},
          {"aleatoric_variance", flat(variance * (alpha0 / (alpha0 + 1.0)))}};
}

/// The mean over members of their categoricals, [M, N, K] to [N, K], and what follows from it.
struct MeanCategoricalValues {
  Value log_members, log_mean, max_prob, entropy;

  MeanCategoricalValues(const Value& logits, int64_t members)
      : log_members(Relative(logits).log_probabilities()),
        log_mean(members == 0 ? log_members : mean_of(log_members, members)),
        max_prob(exp(largest(log_mean, -1))),
        entropy(-sum(exp(log_mean) * log_mean, -1)) {}

  Value information() const { return at_least(mean(sum(exp(log_members) * (log_members - log_mean), -1), 0), 0.0); }

 private:
  static Value mean_of(const Value& log_members, int64_t members) {
    const auto top = largest(log_members, 0, true);
    const auto scaled = log(sum(exp(log_members - top), 0)) - std::log(static_cast<double>(members));
    return scaled + largest(log_members, 0);
  }
};

Value energy(const Value& logits) {
  const Relative relative(logits);
  return -sum(relative.top + relative.log_sum, -1);
}

}  // namespace

Value softmax(const Value& logits) {
  const Relative relative(logits);
  return relative.exp_t / relative.sum_exp;
}

NamedValues measure_values(const Value& logits, bool dirichlet, int64_t members, int64_t classes) {
  ValuesByName values;
  if (dirichlet) {
    values = dirichlet_values(logits, classes);
    if (members > 0)
      for (auto& [name, value] : values) value = mean(value, 0);
  }
  if (!dirichlet || members > 0) {
    const MeanCategoricalValues of_mean(logits, members);
    values["max_prob"] = of_mean.max_prob;
    values["entropy"] = of_mean.entropy;
    if (dirichlet) {
      const auto model = of_mean.information();
      values["mutual_information"] = model + values["mutual_information"];
      values["mutual_information_y_theta"] = model;
      values["epkl"] = mean_divergence(logits, classes);
    } else if (members > 0) {
      const auto& log_p = of_mean.log_members;
      values["expected_entropy"] = mean(-sum(exp(log_p) * log_p, -1), 0);
      values["mutual_information"] = of_mean.information();
    }
  }
  const auto each = energy(logits);
  values["energy"] = members == 0 ? each : mean(each, 0);
  NamedValues ordered;
  for (const auto& measure : measure_table())
    if (const auto found = values.find(measure.name); found != values.end())
      ordered.emplace_back(found->first, found->second);
  return ordered;
}

// docs/math.md, section 3, as in dirichlet_rows.h: pairs of members are the first two axes.

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
