#pragma once

#include <priornet/dirichlet/gamma.h>

// All measures of one row of logits (or of as many rows as `Real` has lanes), in two passes over it and no memory.
// docs/math.md, section 2, derives the forms used here.

namespace priornet {

template <class Real>
struct RowMeasures {
  Real prediction, max_prob, entropy, expected_entropy, mutual_information, differential_entropy, precision;
};

/// Rows with a logit beyond it, either way, are wide: they take a path of their own, where nothing leaves the range
/// of a double and sums of the order of z do not cancel.
constexpr double kWideLogit = 100.0;
/// Where e^z is clamped: what depends on it has reached its limit long before.
constexpr double kLargestLogit = 700.0;

template <class Real>
PRIORNET_DEVICE inline Real clamp_logit(Real z) {
  const Real bound = Real{} + kLargestLogit;
  return z > bound ? bound : (z < -bound ? -bound : z);
}

/// The largest logit of a row, where it is, and the smallest.
template <class Real>
struct RowExtent {
  Real top, top_index, bottom;
};

/// `load(c)` is the logit of class c.
template <class Real, class Load>
PRIORNET_DEVICE inline RowExtent<Real> row_extent(const Load& load, int64_t classes) {
  const Real first = load(0);
  RowExtent<Real> extent{first, Real{}, first};
  for (int64_t c = 1; c < classes; ++c) {
    const Real z = load(c);
    extent.top_index = z > extent.top ? Real{} + static_cast<double>(c) : extent.top_index;
    extent.top = larger(z, extent.top);
    extent.bottom = smaller(z, extent.bottom);
  }
  return extent;
}

/// e^(z - top) and e^z, sharing the exponential unless the row is wide.
template <class Digits, bool kWide, class Real>
struct RowExponentials {
  Real top, scale;

  PRIORNET_DEVICE explicit RowExponentials(Real row_top) : top(row_top), scale(exp_of<Digits>(clamp_logit(row_top))) {}

  PRIORNET_DEVICE Real relative(Real t) const { return exp_of<Digits>(kWide ? clamp_logit(t) : t); }
  PRIORNET_DEVICE Real alpha(Real z, Real exp_t) const { return kWide ? exp_of<Digits>(clamp_logit(z)) : exp_t * scale; }
};

/// The logarithm of a product of many factors in [1, 6e4], taken only when it would grow too large.
template <class Real>
class LogProduct {
 public:
  PRIORNET_DEVICE void multiply(Real factor) {
    product_ = product_ * factor;
    if (++factors_ == 60) {
      logarithm_ = logarithm_ + log_of(product_);
      product_ = Real{} + 1.0;
      factors_ = 0;
    }
  }
  PRIORNET_DEVICE Real logarithm_over(Real divisor) const { return logarithm_ + log_of(product_ / divisor); }

 private:
  Real product_ = Real{} + 1.0;
  Real logarithm_{};
  int factors_ = 0;
};

template <class Digits, bool kWide, class Real, class Load>
PRIORNET_DEVICE inline RowMeasures<Real> measure_row(const Load& load, int64_t classes, const RowExtent<Real>& extent) {
  const RowExponentials<Digits, kWide, Real> exponentials(extent.top);
  const Real zero{};
  const double K = static_cast<double>(classes);
  Real sum_exp = zero;      // of e^t, t = z - top
  Real sum_exp_t = zero;    // of e^t t
  Real sum_exp_psi = zero;  // of e^t (psi(alpha + 1) - z); if wide, of e^t (psi(alpha + 1) - max(z, 0))
  Real sum_exp_neg = zero;  // if wide, of e^t max(-z, 0)
  Real sum_entropy = zero;  // of the terms of the differential entropy
  LogProduct<Real> product;
  for (int64_t c = 0; c < classes; ++c) {
    const Real z = load(c);
    const Real t = z - extent.top;
    const Real exp_t = exponentials.relative(t);
    const Real alpha = exponentials.alpha(z, exp_t);
    const Real log_alpha = kWide ? clamp_logit(z) : z;
    const auto pieces = gamma_pieces<Digits>(alpha, log_alpha);
    sum_exp = sum_exp + exp_t;
    sum_exp_t = sum_exp_t + exp_t * (kWide ? clamp_logit(t) : t);
    sum_exp_psi = sum_exp_psi + exp_t * pieces.psi_next(kWide ? larger(log_alpha, zero) : log_alpha);
    if constexpr (kWide) sum_exp_neg = sum_exp_neg - exp_t * smaller(log_alpha, zero);
    sum_entropy = sum_entropy + pieces.m_without_log_alpha() + pieces.log_x + (alpha - 1.0) * pieces.remainder();
    product.multiply(pieces.product);
  }

  const Real inverse_sum = 1.0 / sum_exp;
  const Real log_sum = log_of(sum_exp);
  const Real z0 = kWide ? clamp_logit(extent.top + log_sum) : extent.top + log_sum;
  const Real alpha0 = kWide ? exp_of<Digits>(z0) : exponentials.scale * sum_exp;
  const auto total = gamma_pieces<Digits>(alpha0, z0);

  RowMeasures<Real> row;
  row.prediction = extent.top_index;
  row.max_prob = inverse_sum;
  row.entropy = log_sum - sum_exp_t * inverse_sum;
  row.precision = alpha0;

  const Real mean_psi = sum_exp_psi * inverse_sum - total.psi_next(kWide ? larger(z0, zero) : z0);
  Real information = mean_psi;
  Real data = row.entropy - information;
  if constexpr (kWide) {  // below alpha0 = 1 the logarithms that were left out make up the entropy
    const auto low = z0 < 0.0;
    information = mean_psi + (low ? row.entropy : sum_exp_neg * inverse_sum);
    data = low ? -mean_psi : row.entropy - information;
  }
  row.mutual_information = information < 0.0 ? zero : information;
  row.expected_entropy = data < 0.0 ? zero : data;

  row.differential_entropy = sum_entropy - product.logarithm_over(total.product) - total.m_without_log_alpha() -
                             alpha0 * total.remainder() - K * total.psi() + (K - 1.0) * kHalfLog2Pi;
  return row;
}

template <class Digits, class Real, class Load>
PRIORNET_DEVICE inline RowMeasures<Real> measure_row(const Load& load, int64_t classes) {
  const auto extent = row_extent<Real>(load, classes);
  const bool wide = any(extent.top > kWideLogit) || any(extent.bottom < -kWideLogit);
  return wide ? measure_row<Digits, true>(load, classes, extent) : measure_row<Digits, false>(load, classes, extent);
}

}  // namespace priornet
