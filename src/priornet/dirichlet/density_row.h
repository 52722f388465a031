#pragma once

#include <priornet/dirichlet/row.h>

// The log density of a Dirichlet, one row of logits; docs/math.md, section 3:
//   ln Dir(mu) = sum_c alpha_c (ln mu_c - ln p_c) - sum_c ln mu_c - sum_c M(alpha_c) + M(alpha0) - (K - 1) ln(2 pi)
//   / 2.

namespace priornet {

template <class Load>
class DensityRow {
 public:
  PRIORNET_DEVICE DensityRow(const Load& logits, int64_t classes) : logits_(logits), classes_(classes) {
    const auto extent = row_extent<double>(logits, classes);
    double sum_exp = 0;
    LogProduct<double> product;
    for (int64_t c = 0; c < classes; ++c) {
      const double z = clamp_logit(logits(c));
      const auto pieces = gamma_pieces<DoubleDigits>(::exp(z), z);
      sum_exp += ::exp(z - clamp_logit(extent.top));
      constant_ -= pieces.m(z);
      product.multiply(pieces.product);
    }
    z0_ = clamp_logit(extent.top) + ::log(sum_exp);
    const auto total = gamma_pieces<DoubleDigits>(::exp(z0_), z0_);
    d0_ = total.big_d(z0_);
    constant_ += total.m(z0_) + product.logarithm_over(total.product);
    constant_ -= static_cast<double>(classes - 1) * kHalfLog2Pi;
  }

  /// `log_mu(c)` is ln mu_c.
  PRIORNET_DEVICE double log_density(const Load& log_mu) const {
    double sum = constant_;
    for (int64_t c = 0; c < classes_; ++c) {
      const double z = clamp_logit(logits_(c));
      sum += ::exp(z) * (log_mu(c) - (z - z0_)) - log_mu(c);
    }
    return sum;
  }

  /// What class c takes off `constant` at a point of the simplex. sum_c alpha_c s_c, s_c = ln(p_c / mu_c), is taken as
  /// sum_c alpha_c (e^-s_c - 1 + s_c), which is the same where p and mu both add up to 1, and which the rounding of
  /// ln mu changes in second order only: in first order it counts alpha0 times.
  struct DrawTerm {
    double alpha, alpha0, log_p;

    PRIORNET_DEVICE double operator()(double log_mu) const {
      const double s = log_p - log_mu;
      const bool near = s < 1 && s > -1;
      return (near ? alpha * surplus(s) : alpha0 * ::exp(log_mu) + alpha * (s - 1)) + log_mu;
    }
  };
  PRIORNET_DEVICE DrawTerm draw_term(int64_t c) const {
    const double z = clamp_logit(logits_(c));
    return {::exp(z), ::exp(z0_), z - z0_};
  }
  PRIORNET_DEVICE double constant() const { return constant_; }

  /// The derivatives in z_c and ln mu_c.
  struct Slope {
    double alpha, psi_difference;

    PRIORNET_DEVICE double in_logit(double log_mu) const { return alpha * (log_mu - psi_difference); }
    PRIORNET_DEVICE double in_log_mu() const { return alpha - 1; }
  };
  PRIORNET_DEVICE Slope slope(int64_t c) const {
    const double z = clamp_logit(logits_(c));
    const auto pieces = gamma_pieces<DoubleDigits>(::exp(z), z);
    return {pieces.alpha, (z - z0_) - (pieces.big_d(z) - d0_)};
  }

 private:
  const Load& logits_;
  int64_t classes_;
  double z0_ = 0;
  double d0_ = 0;
  double constant_ = 0;
};

}  // namespace priornet
