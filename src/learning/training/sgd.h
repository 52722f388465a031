#pragma once

#include <priornet/learning/settings.h>

#include <array>
#include <vector>

#include "uncertainty/core/device_code.h"

namespace priornet {

/// With g the gradient plus weight_decay p: b = momentum b + g; then p -= rate b, or by Nesterov's rule
/// p -= rate (g + momentum b). The rate is what changes from step to step.
struct Sgd {
  static constexpr const char* kName = "sgd";
  static constexpr const char* kSummary = "with momentum, by Nesterov's rule where asked";
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

}  // namespace priornet
