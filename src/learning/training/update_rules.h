#pragma once

#include <cmath>
#include <vector>

#include "uncertainty/core/device_code.h"

namespace priornet {

struct NAdamConstants {
  double beta1, beta2, epsilon, momentum_decay;
};

/// With m and v the running means of the gradient g and of its square, and mu_t the momentum of step t:
/// p -= rate ((1 - mu_t) / (1 - mu_1 ... mu_t) g + mu_(t+1) / (1 - mu_1 ... mu_(t+1)) m) / (sqrt(v / (1 - beta2^t)) +
/// epsilon). What changes from step to step is a row of three coefficients: of g, of m, and of v below the root.
template <class T>
class NAdamRule {
 public:
  using Value = T;
  using Constants = NAdamConstants;
  static constexpr int kMoments = 2;
  static constexpr int kCoefficients = 3;

  PRIORNET_DEVICE NAdamRule(const NAdamConstants& constants, const double* row)
      : beta1_(static_cast<T>(constants.beta1)),
        rest1_(static_cast<T>(1.0 - constants.beta1)),
        beta2_(static_cast<T>(constants.beta2)),
        rest2_(static_cast<T>(1.0 - constants.beta2)),
        epsilon_(static_cast<T>(constants.epsilon)),
        of_gradient_(static_cast<T>(row[0])),
        of_mean_(static_cast<T>(row[1])),
        of_square_(static_cast<T>(row[2])) {}

  PRIORNET_DEVICE void operator()(T& p, T g, T& m, T& v) const {
    m = beta1_ * m + rest1_ * g;
    v = beta2_ * v + rest2_ * g * g;
    p -= (of_gradient_ * g + of_mean_ * m) / (std::sqrt(v * of_square_) + epsilon_);
  }

 private:
  T beta1_, rest1_, beta2_, rest2_, epsilon_, of_gradient_, of_mean_, of_square_;
};

/// The rows of coefficients of all steps, one after the other. ArgumentError for constants out of range.
std::vector<double> nadam_coefficients(const NAdamConstants& constants, const std::vector<double>& rates);

struct SgdConstants {
  double momentum;
  bool nesterov;
};

/// b = momentum b + g; then p -= rate b, or by Nesterov's rule p -= rate (g + momentum b). The rate is what changes
/// from step to step.
template <class T>
class SgdRule {
 public:
  using Value = T;
  using Constants = SgdConstants;
  static constexpr int kMoments = 1;
  static constexpr int kCoefficients = 1;

  PRIORNET_DEVICE SgdRule(const SgdConstants& constants, const double* row)
      : rate_(static_cast<T>(row[0])),
        momentum_(static_cast<T>(constants.momentum)),
        of_gradient_(constants.nesterov ? T(1) : T(0)),
        of_velocity_(constants.nesterov ? momentum_ : T(1)) {}

  /// There is no second moment.
  PRIORNET_DEVICE void operator()(T& p, T g, T& b, T&) const {
    b = momentum_ * b + g;
    p -= rate_ * (of_gradient_ * g + of_velocity_ * b);
  }

 private:
  T rate_, momentum_, of_gradient_, of_velocity_;
};

}  // namespace priornet
