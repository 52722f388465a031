#pragma once

#include <priornet/learning/settings.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <vector>

#include "uncertainty/core/device_code.h"

// The update rules: a rule is one struct with its name, settings, coefficients per step, one or two moments and the
// update of one parameter, which a CPU and a GPU run.

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

/// With g the gradient plus weight_decay p: b = momentum b + g; then p -= rate b, or by Nesterov's rule
/// p -= rate (g + momentum b). The rate is what changes from step to step.
struct Sgd {
  static constexpr const char* kName = "sgd";
  static constexpr const char* kSummary = "with momentum, by Nesterov's rule if asked";
  static constexpr std::array kSettings = {Setting{"momentum", 0.9, {0, 1, true, false}, ""},
                                           Setting{"nesterov", 1, {0, 1}, "", Setting::Kind::kFlag}};
  static constexpr std::array kMoments = {"velocity"};
  static constexpr int kCoefficients = 1;

  double momentum;
  bool nesterov;
  double weight_decay;

  static Sgd of(const double* settings, double weight_decay) { return {settings[0], settings[1] != 0.0, weight_decay}; }

  std::vector<double> coefficients(const std::vector<double>& rates) const { return rates; }

  template <class T>
  class Update {
   public:
    PRIORNET_DEVICE Update(const Sgd& rule, const double* row)
        : rate_(static_cast<T>(row[0])),
          momentum_(static_cast<T>(rule.momentum)),
          decay_(static_cast<T>(rule.weight_decay)),
          of_gradient_(rule.nesterov ? T(1) : T(0)),
          of_velocity_(rule.nesterov ? momentum_ : T(1)) {}

    /// There is no second moment.
    PRIORNET_DEVICE void operator()(T& p, T gradient, T& b, T&) const {
      const T g = gradient + p * decay_;
      b = momentum_ * b + g;
      p -= rate_ * (of_gradient_ * g + of_velocity_ * b);
    }

   private:
    T rate_, momentum_, decay_, of_gradient_, of_velocity_;
  };
};

/// Loshchilov & Hutter (2019), as in PyTorch: with m and v the running means of the gradient and of its square,
/// p -= rate weight_decay p; then p -= rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + adam_epsilon). What changes
/// from step to step is a row of three coefficients: of p, of m, and of v below the root.
struct AdamW {
  static constexpr const char* kName = "adamw";
  static constexpr const char* kSummary = "Adam, with weight decay separate from the gradient";
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

/// The list: a new rule is added here and nowhere else.
using OptimiserRules = std::tuple<NAdam, Sgd, AdamW>;

/// One of them: its place in the list, and the values of its settings in its order.
struct RuleChoice {
  size_t place;
  const double* settings;
  double weight_decay;
};

/// Calls `work` with that rule.
template <class Work, size_t place = 0>
void with_rule(const RuleChoice& choice, const Work& work) {
  if constexpr (place < std::tuple_size_v<OptimiserRules>) {
    if (choice.place == place)
      work(std::tuple_element_t<place, OptimiserRules>::of(choice.settings, choice.weight_decay));
    else
      with_rule<Work, place + 1>(choice, work);
  }
}

}  // namespace priornet
