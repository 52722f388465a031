#pragma once

#include <priornet/learning/settings.h>

#include <array>
#include <cmath>
#include <vector>

#include "uncertainty/core/device_code.h"

namespace priornet {

/// Loshchilov & Hutter (2019), as PyTorch has it: with m and v the running means of the gradient and of its square,
/// p -= rate weight_decay p; then p -= rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + adam_epsilon). What changes
/// from step to step is a row of three coefficients: of p, of m, and of v below the root.
struct AdamW {
  static constexpr const char* kName = "adamw";
  static constexpr const char* kSummary = "Adam, with weight decay apart from the gradient";
  static constexpr std::array kSettings = {Setting{"beta1", 0.9, {0, 1, true, false}, ""},
                                           Setting{"beta2", 0.999, {0, 1, true, false}, ""},
                                           Setting{"adam_epsilon", 1e-8, above(0), ""}};
  static constexpr std::array kMoments = {"mean", "square"};
  static constexpr int kCoefficients = 3;

  double beta1, beta2, epsilon, weight_decay;

  static AdamW of(const double* settings, double weight_decay) {
    return {settings[0], settings[1], settings[2], weight_decay};
  }

  std::vector<double> coefficients(const std::vector<double>& rates) const {
    std::vector<double> table;
    double t = 0.0;
    for (const auto rate : rates) {
      t += 1.0;
      table.push_back(1.0 - rate * weight_decay);
      table.push_back(rate / (1.0 - std::pow(beta1, t)));
      table.push_back(1.0 / (1.0 - std::pow(beta2, t)));
    }
    return table;
  }

  template <class T>
  class Update {
   public:
    PRIORNET_DEVICE Update(const AdamW& rule, const double* row)
        : beta1_(static_cast<T>(rule.beta1)),
          rest1_(static_cast<T>(1.0 - rule.beta1)),
          beta2_(static_cast<T>(rule.beta2)),
          rest2_(static_cast<T>(1.0 - rule.beta2)),
          epsilon_(static_cast<T>(rule.epsilon)),
          of_value_(static_cast<T>(row[0])),
          of_mean_(static_cast<T>(row[1])),
          of_square_(static_cast<T>(row[2])) {}

    PRIORNET_DEVICE void operator()(T& p, T g, T& m, T& v) const {
      m = beta1_ * m + rest1_ * g;
      v = beta2_ * v + rest2_ * g * g;
      p = p * of_value_ - of_mean_ * m / (std::sqrt(v * of_square_) + epsilon_);
    }

   private:
    T beta1_, rest1_, beta2_, rest2_, epsilon_, of_value_, of_mean_, of_square_;
  };
};

}  // namespace priornet
