#include "learning/training/update_rules.h"

#include "uncertainty/core/checks.h"

namespace priornet {

std::vector<double> nadam_coefficients(const NAdamConstants& constants, const std::vector<double>& rates) {
  for (const auto beta : {constants.beta1, constants.beta2})
    check_range("NAdam", "each beta", beta >= 0.0 && beta < 1.0, "in [0, 1)", beta);
  check_range("NAdam", "epsilon", constants.epsilon > 0.0, "above 0", constants.epsilon);
  const auto momentum = [&](double t) {
    return constants.beta1 * (1.0 - 0.5 * std::pow(0.96, t * constants.momentum_decay));
  };
  std::vector<double> table;
  table.reserve(rates.size() * NAdamRule<double>::kCoefficients);
  double product = 1.0;
  double t = 0.0;
  for (const auto rate : rates) {
    t += 1.0;
    product *= momentum(t);
    table.push_back(rate * (1.0 - momentum(t)) / (1.0 - product));
    table.push_back(rate * momentum(t + 1.0) / (1.0 - product * momentum(t + 1.0)));
    table.push_back(1.0 / (1.0 - std::pow(constants.beta2, t)));
  }
  return table;
}

}  // namespace priornet
