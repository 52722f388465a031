#pragma once

#include <priornet/losses/loss_row.h>

// The target of a row, class by class, as loss_row wants it.

namespace priornet {

/// One concentration on the label and another elsewhere; a label of -1 makes all classes alike.
template <class Real>
struct LabelTarget {
  TargetClass<double> on, off;
  TargetTotal<double> sum;
  Real label;

  PRIORNET_DEVICE TargetClass<Real> operator()(int64_t c) const {
    const auto is_label = label == static_cast<double>(c);
    const Real zero{};
    return {is_label ? zero + on.beta : zero + off.beta, is_label ? zero + on.log_mean : zero + off.log_mean,
            is_label ? zero + on.psi_difference : zero + off.psi_difference, is_label ? zero + on.m : zero + off.m,
            is_label ? zero + on.beta_d : zero + off.beta_d};
  }
  PRIORNET_DEVICE TargetTotal<Real> total() const {
    const Real zero{};
    return {zero + sum.beta0, zero + sum.m, zero + sum.beta0_d};
  }
};

/// A probability for every class, times alpha0. `load(c)` is the probability of class c.
template <class Digits, class Real, class Load>
class TeacherTarget {
 public:
  PRIORNET_DEVICE TeacherTarget(const Load& load, int64_t classes, double alpha0) : load_(load), alpha0_(alpha0) {
    Real sum{};
    for (int64_t c = 0; c < classes; ++c) sum = sum + load(c);
    beta0_ = alpha0 * sum;
    log_beta0_ = log_of(beta0_);
    pieces_ = gamma_pieces<Digits>(beta0_, log_beta0_);
  }

  PRIORNET_DEVICE TargetClass<Real> operator()(int64_t c) const {
    const Real beta = alpha0_ * load_(c);
    const Real log_beta = log_of(beta);
    const auto pieces = gamma_pieces<Digits>(beta, log_beta);
    return {beta, log_beta - log_beta0_, pieces.psi() - pieces_.psi(), pieces.m(log_beta) - log_of(pieces.product),
            beta * pieces.big_d(log_beta)};
  }
  PRIORNET_DEVICE TargetTotal<Real> total() const {
    return {beta0_, pieces_.m(log_beta0_) - log_of(pieces_.product), beta0_ * pieces_.big_d(log_beta0_)};
  }

 private:
  const Load& load_;
  double alpha0_;
  Real beta0_, log_beta0_;
  GammaPieces<Real> pieces_;
};

/// The constants of one class with concentration beta among a sum of beta0.
PRIORNET_DEVICE inline TargetTotal<double> target_total(double beta0) {
  const double log_beta0 = ::log(beta0);
  const auto pieces = gamma_pieces<DoubleDigits>(beta0, log_beta0);
  return {beta0, pieces.m(log_beta0) - ::log(pieces.product), beta0 * pieces.big_d(log_beta0)};
}
PRIORNET_DEVICE inline TargetClass<double> target_class(double beta, double beta0) {
  const double log_beta = ::log(beta);
  const double log_beta0 = ::log(beta0);
  const auto pieces = gamma_pieces<DoubleDigits>(beta, log_beta);
  const auto total = gamma_pieces<DoubleDigits>(beta0, log_beta0);
  return {beta, log_beta - log_beta0, pieces.psi() - total.psi(), pieces.m(log_beta) - ::log(pieces.product),
          beta * pieces.big_d(log_beta)};
}

}  // namespace priornet
