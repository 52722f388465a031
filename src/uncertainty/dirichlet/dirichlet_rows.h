#pragma once

#include <limits>

#include "uncertainty/core/random_stream.h"
#include "uncertainty/dirichlet/logit_row.h"

// KL[Dir(alpha) || Dir(beta)] of one row, alpha = e^z and beta = e^w, and its gradient in z and w. docs/math.md,
// section 3:
//   KL = beta0 KL[q || p] + sum_c B(beta_c, alpha_c) - B(beta0, alpha0),
// p = alpha / alpha0, q = beta / beta0, with B(b, a) = M(b) - M(a) + (b - a) D(a) >= 0. If one class dominates both
// rows, its B and that of the sums are large and nearly equal; their difference is then computed as an integral over
// the little that the other classes add.

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
      // The difference beta0 p a0 psi'(a0) - beta a psi'(a) of two large terms, computed from the distances of p from q
      // and of the two factors.
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

// The log density of a Dirichlet, one row of logits; docs/math.md, section 3:
//   ln Dir(mu) = sum_c alpha_c (ln mu_c - ln p_c) - sum_c ln mu_c - sum_c M(alpha_c) + M(alpha0) - (K - 1) ln(2 pi)
//   / 2.

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

  /// `log_mu(c)` is ln mu_c. A mu_c of 0 counts as 1: infinity_at() has its part.
  PRIORNET_DEVICE double log_density(const Load& log_mu) const {
    double sum = constant_;
    for (int64_t c = 0; c < classes_; ++c) {
      const double z = clamp_logit(logits_(c));
      const double log = is_zero(log_mu(c)) ? 0.0 : static_cast<double>(log_mu(c));
      sum += ::exp(z) * (log - (z - z0_)) - log;
    }
    return sum;
  }

  /// The sum of (alpha_c - 1) ln mu_c over the classes with a mu_c of 0 and another alpha_c than 1: 0 if there is none,
  /// else infinite, or NaN if both infinities meet.
  PRIORNET_DEVICE double infinity_at(const Load& log_mu) const {
    double sum = 0;
    for (int64_t c = 0; c < classes_; ++c) {
      const double z = logits_(c);
      if (is_zero(log_mu(c)) && z != 0) sum += z > 0 ? -kInfinity : kInfinity;
    }
    return sum;
  }

  /// What class c subtracts from `constant` at a point of the simplex. sum_c alpha_c s_c, s_c = ln(p_c / mu_c), is
  /// computed as sum_c alpha_c (e^-s_c - 1 + s_c), which is the same if p and mu both add up to 1. Rounding of ln mu
  /// changes this form only in second order; the first-order change would be multiplied by alpha0.
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
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  PRIORNET_DEVICE static bool is_zero(double log_mu) { return log_mu == -kInfinity; }

  const Load& logits_;
  int64_t classes_;
  double z0_ = 0;
  double d0_ = 0;
  double constant_ = 0;
};

// Draws from a Dirichlet in logarithms: mu = G / sum G with G_c ~ Gamma(alpha_c).

/// ln G, G ~ Gamma(alpha), by Marsaglia and Tsang's method (2000); below 1 by G(alpha) = G(alpha + 1) U^(1/alpha). NaN
/// for NaN.
PRIORNET_DEVICE inline double log_gamma_draw(double log_alpha, RandomStream& random) {
  if (log_alpha != log_alpha) return log_alpha;  // no draw would ever be accepted
  const double alpha = ::exp(log_alpha);
  double boost = 0;
  double shape = alpha;
  if (alpha < 1) {
    boost = ::log(random.uniform()) / alpha;
    shape = alpha + 1;
  }
  const double d = shape - 1.0 / 3;
  const double scale = 1 / ::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    if (scale * x <= -1) continue;
    const double log_v = 3 * ::log1p(scale * x);
    // ln U < x^2/2 + d (1 - v + ln v), where for large d the bracket is far smaller than its terms.
    if (::log(random.uniform()) < 0.5 * x * x - d * surplus(-log_v)) return boost + ::log(d) + log_v;
  }
}

/// Calls store(c, ln mu_c) for every class. Each class has its own random stream, which runs twice: once for the sum,
/// once for the values.
template <class Load, class Store>
PRIORNET_DEVICE inline void sample_log_row(const Load& logits, int64_t classes, uint64_t seed, int64_t row,
                                           int64_t sample, const Store& store) {
  const auto draw = [&](int64_t c) {
    RandomStream random(seed, static_cast<uint64_t>(row), static_cast<uint64_t>(sample * classes + c));
    return log_gamma_draw(clamp_logit(logits(c)), random);
  };
  double top = draw(0);
  double sum = 1;  // of e^(draw - top)
  for (int64_t c = 1; c < classes; ++c) {
    const double value = draw(c);
    if (value > top) {
      sum = sum * ::exp(top - value) + 1;
      top = value;
    } else {
      sum += ::exp(value - top);
    }
  }
  const double log_sum = top + ::log(sum);
  for (int64_t c = 0; c < classes; ++c) store(c, draw(c) - log_sum);
}

// What core/rows.h runs for each row, on the CPU and on a GPU. Pointers are to contiguous tensors.

template <class T>
struct KlWork {
  const T* p_logits;  ///< [rows, classes]
  const T* q_logits;
  int64_t classes;
  T* values;  ///< [rows]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> p{p_logits + row * classes}, q{q_logits + row * classes};
    values[row] = saturate<T>(KlRow<ScalarRow<T>>(p, q, classes).value());
  }
};

template <class T>
struct KlGradientWork {
  const T* p_logits;
  const T* q_logits;
  int64_t classes;
  const T* weights;  ///< [rows]: the gradient that arrives
  T* p_gradient;     ///< [rows, classes]
  T* q_gradient;

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> p{p_logits + row * classes}, q{q_logits + row * classes};
    const double weight = static_cast<double>(weights[row]);
    KlRow<ScalarRow<T>>(p, q, classes).gradient([&](int64_t c, double in_p, double in_q) {
      p_gradient[row * classes + c] = saturate<T>(weight * in_p);
      q_gradient[row * classes + c] = saturate<T>(weight * in_q);
    });
  }
};

template <class T>
struct DensityWork {
  const T* logits;  ///< [rows, classes]
  const T* log_mu;  ///< [samples, rows, classes]
  int64_t rows, classes, samples;
  T* values;  ///< [samples, rows]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> z{logits + row * classes};
    const DensityRow<ScalarRow<T>> density(z, classes);
    for (int64_t s = 0; s < samples; ++s) {
      const ScalarRow<T> at{log_mu + (s * rows + row) * classes};
      const double infinite = density.infinity_at(at);
      values[s * rows + row] = infinite == 0 ? saturate<T>(density.log_density(at)) : static_cast<T>(infinite);
    }
  }
};

struct DrawDensityWork {
  const double* logits;  ///< [rows, classes]
  const double* log_mu;  ///< [samples, rows, classes], draws
  int64_t rows, classes, samples;
  double* values;  ///< [samples, rows]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<double> z{logits + row * classes};
    const DensityRow<ScalarRow<double>> density(z, classes);
    for (int64_t s = 0; s < samples; ++s) values[s * rows + row] = density.constant();
    for (int64_t c = 0; c < classes; ++c) {
      const auto term = density.draw_term(c);
      for (int64_t s = 0; s < samples; ++s) values[s * rows + row] -= term(log_mu[(s * rows + row) * classes + c]);
    }
    for (int64_t s = 0; s < samples; ++s) values[s * rows + row] = saturate<double>(values[s * rows + row]);
  }
};

template <class T>
struct DensityGradientWork {
  const T* logits;
  const T* log_mu;
  int64_t rows, classes, samples;
  const T* weights;    ///< [samples, rows]: the gradient that arrives
  T* gradient;         ///< [rows, classes]
  T* log_mu_gradient;  ///< [samples, rows, classes]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> z{logits + row * classes};
    const DensityRow<ScalarRow<T>> density(z, classes);
    for (int64_t c = 0; c < classes; ++c) {
      const auto slope = density.slope(c);
      double sum = 0;
      for (int64_t s = 0; s < samples; ++s) {
        const int64_t at = (s * rows + row) * classes + c;
        const double weight = static_cast<double>(weights[s * rows + row]);
        sum += weight * slope.in_logit(static_cast<double>(log_mu[at]));
        log_mu_gradient[at] = saturate<T>(weight * slope.in_log_mu());
      }
      gradient[row * classes + c] = saturate<T>(sum);
    }
  }
};

template <class T>
struct SampleWork {
  const T* logits;  ///< [rows, classes]
  int64_t rows, classes, samples;
  uint64_t seed;
  T* log_mu;  ///< [samples, rows, classes]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> z{logits + row * classes};
    for (int64_t s = 0; s < samples; ++s) {
      T* out = log_mu + (s * rows + row) * classes;
      sample_log_row(z, classes, seed, row, s, [&](int64_t c, double value) { out[c] = saturate<T>(value); });
    }
  }
};

}  // namespace priornet
