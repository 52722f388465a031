#pragma once

#include <priornet/core/device_code.h>

namespace priornet {

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
