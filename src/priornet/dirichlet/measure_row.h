#pragma once

#include <priornet/dirichlet/row.h>

// All measures of one row of logits (or of as many rows as `Real` has lanes), in two passes over it and no memory.
// docs/math.md, section 2, derives the forms used here.

namespace priornet {

template <class Real>
struct RowMeasures {
  Real prediction, max_prob, entropy, expected_entropy, mutual_information, differential_entropy, precision;
};

template <class Digits, bool kWide, class Real, class Load>
PRIORNET_DEVICE inline RowMeasures<Real> measure_row(const Load& load, int64_t classes, const RowExtent<Real>& extent) {
  const RowExponentials<Digits, kWide, Real> exponentials(extent.top);
  const Real zero{};
  const double K = static_cast<double>(classes);
  Real sum_exp = zero;      // of e^t, t = z - top
  Real sum_exp_t = zero;    // of e^t t
  Real sum_exp_psi = zero;  // of e^t (psi(alpha + 1) - max(z, 0))
  Real sum_exp_neg = zero;  // of e^t max(-z, 0)
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
    const Real positive = larger(log_alpha, zero);
    sum_exp_psi = sum_exp_psi + exp_t * pieces.psi_next(positive);
    sum_exp_neg = sum_exp_neg + exp_t * (positive - log_alpha);
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

  // Below alpha0 = 1 the logarithms left out of the psi make up the entropy: nothing of the order of z0 cancels.
  const auto low = z0 < 0.0;
  const Real mean_psi = sum_exp_psi * inverse_sum - total.psi_next(larger(z0, zero));
  const Real information = mean_psi + (low ? row.entropy : sum_exp_neg * inverse_sum);
  const Real data = low ? -mean_psi : row.entropy - information;
  row.mutual_information = information < 0.0 ? zero : information;
  row.expected_entropy = data < 0.0 ? zero : data;

  row.differential_entropy = sum_entropy - product.logarithm_over(total.product) - total.m_without_log_alpha() -
                             alpha0 * total.remainder() - K * total.psi() + (K - 1.0) * kHalfLog2Pi;
  return row;
}

template <class Digits, class Real, class Load>
PRIORNET_DEVICE inline RowMeasures<Real> measure_row(const Load& load, int64_t classes) {
  const auto extent = row_extent<Real>(load, classes);
  return is_wide(extent) ? measure_row<Digits, true>(load, classes, extent)
                         : measure_row<Digits, false>(load, classes, extent);
}

}  // namespace priornet
