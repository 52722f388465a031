#pragma once

#include <priornet/dirichlet/row.h>

// KL[Dir(alpha) || Dir(beta)] of one row, alpha = e^z and beta = e^w, and its gradient in z and w. docs/math.md,
// section 3:
//   KL = beta0 KL[q || p] + sum_c B(beta_c, alpha_c) - B(beta0, alpha0),
// p = alpha / alpha0, q = beta / beta0, with B(b, a) = M(b) - M(a) + (b - a) D(a) >= 0. Where one class dominates both
// rows its B and that of the sums are large and nearly equal; their difference is then an integral over the little
// that the other classes add.

namespace priornet {

/// D(a) and M(a) of a = e^log_a, with a psi'(a) and a^2 psi'(a) - a.
struct LogGamma {
  double a, log_a, d, m, first, second;

  PRIORNET_DEVICE explicit LogGamma(double log_value) : a(::exp(log_value)), log_a(log_value) {
    const auto pieces = gamma_pieces<DoubleDigits>(a, log_a);
    const auto trigamma = trigamma_pieces<DoubleDigits>(pieces, log_a);
    d = pieces.big_d(log_a);
    m = pieces.m(log_a) - ::log(pieces.product);
    first = trigamma.first;
    second = trigamma.second;
  }

  PRIORNET_DEVICE double excess() const { return second / a; }  ///< first - 1
};

/// The derivative of a psi'(a), that is psi'(a) + a psi''(a).
PRIORNET_DEVICE inline double first_slope(double a) {
  double sum = 0;  // of what lies below x: 1/t^2 - 2a/t^3 = (t - 2a)/t^3
  double x = a;
  for (; x < 12; ++x) sum += (x - 2 * a) / (x * x * x);
  // psi'(x) = 1/x + 1/(2x^2) + 1/(6x^3) - 1/(30x^5) + ..., and psi'' its derivative.
  constexpr double kBernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};
  double power = 1 / (x * x);  // of 1/x, for psi'' times a and psi' alike: each term is x^-n (x - n a) / x
  sum += (x - a) * power + 0.5 * (x - 2 * a) * power / x;
  power /= x * x;
  int n = 3;
  for (const double coefficient : kBernoulli) {
    sum += coefficient * (x - n * a) * power;
    power /= x * x;
    n += 2;
  }
  return sum;
}

/// How much M, D and a psi'(a) fall from a to a + delta.
struct Decrease {
  double m, d, first;
};

PRIORNET_DEVICE inline Decrease decrease(const LogGamma& from, const LogGamma& to, double delta) {
  if (delta > 0.0625 * from.a) return {from.m - to.m, from.d - to.d, from.excess() - to.excess()};
  // Integrals of M' = -D, D' = 1/a - psi'(a) and (a psi'(a))' by the Gauss-Legendre rule with five points.
  constexpr double kNodes[] = {0.046910077030668004, 0.23076534494715845, 0.5, 0.7692346550528415, 0.953089922969332};
  constexpr double kWeights[] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
                                 0.11846344252809454};
  Decrease mean{0, 0, 0};
  for (int i = 0; i < 5; ++i) {
    const LogGamma at(from.log_a + ::log1p(kNodes[i] * delta / from.a));
    mean.m += kWeights[i] * at.d;
    mean.d += kWeights[i] * at.second / (at.a * at.a);
    mean.first -= kWeights[i] * first_slope(at.a);
  }
  return {mean.m * delta, mean.d * delta, mean.first * delta};
}

template <class Load>
class KlRow {
 public:
  /// `z(c)` and `w(c)` are the logits of class c.
  PRIORNET_DEVICE KlRow(const Load& z, const Load& w, int64_t classes)
      : z_(z),
        w_(w),
        classes_(classes),
        top_(top_of(z, classes)),
        alpha_top_(clamped(z(top_))),
        beta_top_(clamped(w(top_))),
        alpha_ratio_(rest_over_top(z)),
        beta_ratio_(rest_over_top(w)),
        alpha_rest_(alpha_ratio_ * alpha_top_.a),
        beta_rest_(beta_ratio_ * beta_top_.a),
        alpha_growth_(::log1p(alpha_ratio_)),
        beta_growth_(::log1p(beta_ratio_)),
        alpha0_(alpha_top_.log_a + alpha_growth_),
        beta0_(beta_top_.log_a + beta_growth_),
        log_ratio0_((beta_top_.log_a - alpha_top_.log_a) + (beta_growth_ - alpha_growth_)),
        of_alpha_(decrease(alpha_top_, alpha0_, alpha_rest_)),
        of_beta_(decrease(beta_top_, beta0_, beta_rest_)) {}

  PRIORNET_DEVICE double value() const {
    double sum =
        of_beta_.m - of_alpha_.m + (beta_top_.a - alpha_top_.a) * of_alpha_.d - (beta_rest_ - alpha_rest_) * alpha0_.d;
    for (int64_t c = 0; c < classes_; ++c) {
      const LogGamma alpha(clamped(z_(c))), beta(clamped(w_(c)));
      sum += beta.a * surplus(log_mean_ratio(c, alpha, beta));
      if (c != top_) sum += (beta.m - alpha.m) + (beta.a - alpha.a) * alpha.d;
    }
    return sum;
  }

  /// Calls store(c, dKL/dz_c, dKL/dw_c) for every class.
  template <class Store>
  PRIORNET_DEVICE void gradient(const Store& store) const {
    for (int64_t c = 0; c < classes_; ++c) {
      const LogGamma alpha(clamped(z_(c))), beta(clamped(w_(c)));
      const double p = ::exp(alpha.log_a - alpha0_.log_a);
      const double s = log_mean_ratio(c, alpha, beta);
      const bool is_top = c == top_;
      // The difference beta0 p a0 psi'(a0) - beta a psi'(a) of two large terms, by how far p and q and the two factors
      // are apart.
      const double means = beta0_.a * p * ::expm1(s) * alpha0_.first;
      const double factors = beta.a * (is_top ? of_alpha_.first : alpha.excess() - alpha0_.excess());
      store(c, (alpha.second - p * alpha0_.second) - means - factors,
            beta.a * (s - (is_top ? of_beta_.d - of_alpha_.d : (beta.d - beta0_.d) - (alpha.d - alpha0_.d))));
    }
  }

 private:
  /// Ratios of concentrations count here: at half the bound they stay in range.
  PRIORNET_DEVICE static double clamped(double logit) { return clamp_logit(logit, kLargestLogit / 2); }

  /// ln(q_c / p_c).
  PRIORNET_DEVICE double log_mean_ratio(int64_t c, const LogGamma& alpha, const LogGamma& beta) const {
    return c == top_ ? alpha_growth_ - beta_growth_ : (beta.log_a - alpha.log_a) - log_ratio0_;
  }

  PRIORNET_DEVICE static int64_t top_of(const Load& row, int64_t classes) {
    int64_t top = 0;
    for (int64_t c = 1; c < classes; ++c)
      if (row(c) > row(top)) top = c;
    return top;
  }

  /// The sum over the other classes, as a multiple of the top one: alpha0 / alpha_top - 1 without cancellation.
  PRIORNET_DEVICE double rest_over_top(const Load& row) const {
    double sum = 0;
    for (int64_t c = 0; c < classes_; ++c)
      if (c != top_) sum += ::exp(clamped(row(c)) - clamped(row(top_)));
    return sum;
  }

  const Load& z_;
  const Load& w_;
  int64_t classes_;
  int64_t top_;  ///< the class that dominates alpha
  LogGamma alpha_top_, beta_top_;
  double alpha_ratio_, beta_ratio_;
  double alpha_rest_, beta_rest_;      ///< alpha0 - alpha_top, beta0 - beta_top
  double alpha_growth_, beta_growth_;  ///< ln(alpha0 / alpha_top), ln(beta0 / beta_top)
  LogGamma alpha0_, beta0_;
  double log_ratio0_;  ///< ln(beta0 / alpha0)
  Decrease of_alpha_, of_beta_;
};

}  // namespace priornet
