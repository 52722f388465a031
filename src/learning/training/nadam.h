#pragma once

#include <priornet/learning/settings.h>

#include <array>
#include <cmath>
#include <vector>

#include "uncertainty/core/device_code.h"

namespace priornet {

/// With g the gradient plus weight_decay p, m and v the running means of g and of its square, and
/// mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2) the momentum of step t:
/// p -= rate ((1 - mu_t) / (1 - mu_1 ... mu_t) g + mu_(t+1) / (1 - mu_1 ... mu_(t+1)) m) / (sqrt(v / (1 - beta2^t)) +
/// adam_epsilon). What changes from step to step is a row of three coefficients: of g, of m, and of v below the root.
struct NAdam {
  static constexpr const char* kName = "nadam";
  static constexpr const char* kSummary = "Dozat (2016), with PyTorch's momentum schedule";
  static constexpr std::array kSettings = {
      Setting{"beta1", 0.9, {0, 1, true, false}, ""}, Setting{"beta2", 0.999, {0, 1, true, false}, ""},
      Setting{"adam_epsilon", 1e-8, above(0), ""},
      Setting{"momentum_decay", 4e-3, at_least(0), "large for a constant momentum"}};
  static constexpr std::array kMoments = {"mean", "square"};
  static constexpr int kCoefficients = 3;

  double beta1, beta2, epsilon, momentum_decay, weight_decay;

  static NAdam of(const double* settings, double weight_decay) {
    return {settings[0], settings[1], settings[2], settings[3], weight_decay};
  }

  /// The rows of coefficients of all steps, one after the other.
  std::vector<double> coefficients(const std::vector<double>& rates) const {
    const auto momentum = [&](double t) { return beta1 * (1.0 - 0.5 * std::pow(0.96, t * momentum_decay)); };
    std::vector<double> table;
    double product = 1.0;
    double t = 0.0;
    for (const auto rate : rates) {
      t += 1.0;
      product *= momentum(t);
      table.push_back(rate * (1.0 - momentum(t)) / (1.0 - product));
      table.push_back(rate * momentum(t + 1.0) / (1.0 - product * momentum(t + 1.0)));
      table.push_back(1.0 / (1.0 - std::pow(beta2, t)));
    }
    return table;
  }

  template <class T>
  class Update {
   public:
    PRIORNET_DEVICE Update(const NAdam& rule, const double* row)
        : beta1_(static_cast<T>(rule.beta1)),
          rest1_(static_cast<T>(1.0 - rule.beta1)),
          beta2_(static_cast<T>(rule.beta2)),
          rest2_(static_cast<T>(1.0 - rule.beta2)),
          epsilon_(static_cast<T>(rule.epsilon)),
          decay_(static_cast<T>(rule.weight_decay)),
          of_gradient_(static_cast<T>(row[0])),
          of_mean_(static_cast<T>(row[1])),
          of_square_(static_cast<T>(row[2])) {}

    PRIORNET_DEVICE void operator()(T& p, T gradient, T& m, T& v) const {
      const T g = gradient + p * decay_;
      m = beta1_ * m + rest1_ * g;
      v = beta2_ * v + rest2_ * g * g;
      p -= (of_gradient_ * g + of_mean_ * m) / (std::sqrt(v * of_square_) + epsilon_);
    }

   private:
    T beta1_, rest1_, beta2_, rest2_, epsilon_, decay_, of_gradient_, of_mean_, of_square_;
  };
};

}  // namespace priornet
