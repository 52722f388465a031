#include <priornet/deploy/export/gamma_graph.h>
#include <priornet/deploy/export/measure_graph.h>
#include <priornet/dirichlet/gamma.h>
#include <priornet/dirichlet/row.h>

#include <cmath>

// docs/math.md, sections 2 and 4, as measure_row.h and ensembles.cpp have them.

namespace priornet::graph {
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

struct DirichletValues {
  Value max_prob, entropy, expected_entropy, mutual_information, differential_entropy, precision;
};

// Each [...] of logits [..., K].
DirichletValues dirichlet_values(const Value& logits, int64_t classes) {
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
  const auto flat = [](const Value& values) { return sum(values, -1); };
  return {flat(inverse_sum),  flat(entropy), flat(at_least(data, 0.0)), flat(at_least(information, 0.0)),
          flat(differential), flat(alpha0)};
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
  NamedValues values;
  if (dirichlet && members == 0) {
    const auto row = dirichlet_values(logits, classes);
    values = {{"max_prob", row.max_prob},
              {"entropy", row.entropy},
              {"expected_entropy", row.expected_entropy},
              {"mutual_information", row.mutual_information},
              {"differential_entropy", row.differential_entropy},
              {"precision", row.precision}};
  } else {
    const MeanCategoricalValues of_mean(logits, members);
    values = {{"max_prob", of_mean.max_prob}, {"entropy", of_mean.entropy}};
    if (dirichlet) {
      const auto each = dirichlet_values(logits, classes);
      const auto model = of_mean.information();
      values.insert(values.end(), {{"expected_entropy", mean(each.expected_entropy, 0)},
                                   {"mutual_information", model + mean(each.mutual_information, 0)},
                                   {"mutual_information_y_theta", model},
                                   {"differential_entropy", mean(each.differential_entropy, 0)},
                                   {"precision", mean(each.precision, 0)},
                                   {"epkl", mean_divergence(logits, classes)}});
    } else if (members > 0) {
      const auto& log_p = of_mean.log_members;
      values.insert(values.end(), {{"expected_entropy", mean(-sum(exp(log_p) * log_p, -1), 0)},
                                   {"mutual_information", of_mean.information()}});
    }
  }
  const auto each = energy(logits);
  values.emplace_back("energy", members == 0 ? each : mean(each, 0));
  return values;
}

}  // namespace priornet::graph
