#pragma once

#include "uncertainty/dirichlet/logit_row.h"

// All measures of one row of logits (or of as many rows as `Real` has lanes), in two passes over it and no memory.
// docs/math.md, section 2, derives the forms used here.

namespace priornet {

/// The measures that the kernels compute, in the order of the fields of DirichletMeasures (measures.h).
enum DirichletMeasure : int {
  kMaxProb,
  kEntropy,
  kExpectedEntropy,
  kMutualInformation,
  kDifferentialEntropy,
  kPrecision,
  kExpectedPairwiseKl,
  kEpistemicVariance,
  kAleatoricVariance,
  kDirichletMeasures  ///< how many there are
};

template <class Real>
struct RowMeasures {
  Real prediction;
  Real values[kDirichletMeasures];

  PRIORNET_DEVICE Real& operator[](DirichletMeasure measure) { return values[measure]; }
};

/// What the classes of a row add up to; t = z - top.
template <class Real>
struct MeasureSums {
  Real scale{};         ///< not a sum: e^top
  Real exp{};           ///< of e^t
  Real pairs{};         ///< of e^t e^t' over pairs of classes: 1 - sum p^2 without a difference
  Real exp_t{};         ///< of e^t t
  Real exp_psi{};       ///< of e^t (psi(alpha + 1) - max(z, 0))
  Real exp_negative{};  ///< of e^t max(-z, 0)
  Real exp_positive{};  ///< of e^t max(z, 0)
  Real entropy{};       ///< of the terms of the differential entropy, except for the logarithm of
  LogProduct<Real> product;

  /// Adds the sums over other classes of the same row; `other_of(x)` gives their x.
  template <class OtherOf>
  PRIORNET_DEVICE void merge(const OtherOf& other_of) {
    const Real other_exp = other_of(exp);
    pairs = (pairs + other_of(pairs)) + exp * other_exp;
    exp = exp + other_exp;
    exp_t = exp_t + other_of(exp_t);
    exp_psi = exp_psi + other_of(exp_psi);
    exp_negative = exp_negative + other_of(exp_negative);
    exp_positive = exp_positive + other_of(exp_positive);
    entropy = entropy + other_of(entropy);
    product = LogProduct<Real>::of_logarithm(product.logarithm() + other_of(product.logarithm()));
  }
};

/// Over the classes first, first + step, ...: all of them, or the share of one among `step` threads.
template <class Digits, bool kWide, class Real, class Load>
PRIORNET_DEVICE inline MeasureSums<Real> measure_sums(const Load& load, int64_t classes, const RowExtent<Real>& extent,
                                                      int64_t first = 0, int64_t step = 1) {
  const RowExponentials<Digits, kWide, Real> exponentials(extent.top);
  const Real zero{};
  MeasureSums<Real> sums;
  sums.scale = exponentials.scale;
  for (int64_t c = first; c < classes; c += step) {
    const Real z = load(c);
    const Real t = z - extent.top;
    const Real exp_t = exponentials.relative(t);
    const Real alpha = exponentials.alpha(z, exp_t);
    const Real log_alpha = kWide ? clamp_logit(z) : z;
    const auto pieces = gamma_pieces<Digits>(alpha, log_alpha);
    sums.pairs = sums.pairs + exp_t * sums.exp;
    sums.exp = sums.exp + exp_t;
    sums.exp_t = sums.exp_t + exp_t * (kWide ? clamp_logit(t) : t);
    const Real positive = larger(log_alpha, zero);
    sums.exp_psi = sums.exp_psi + exp_t * pieces.psi_next(positive);
    sums.exp_negative = sums.exp_negative + exp_t * (positive - log_alpha);
    sums.exp_positive = sums.exp_positive + exp_t * positive;
    sums.entropy = sums.entropy + (pieces.m_and_log_x() + (alpha - 1.0) * pieces.remainder());
    sums.product.multiply(pieces.product);
  }
  return sums;
}

template <class Digits, bool kWide, class Real>
PRIORNET_DEVICE inline RowMeasures<Real> measures_of(const MeasureSums<Real>& sums, int64_t classes,
                                                     const RowExtent<Real>& extent) {
  const Real zero{};
  const double K = static_cast<double>(classes);
  const Real inverse_sum = 1.0 / sums.exp;
  const Real log_sum = log_of(sums.exp);
  // K classes that count as -600 add up to K times that: the total must not be as small as one of them.
  const Real lowest = zero + (::log(K) - kLargestLogit);
  const Real z0 = kWide ? larger(lowest, clamp_logit(extent.top) + log_sum) : extent.top + log_sum;
  const Real alpha0 = kWide ? exp_of<Digits>(z0) : sums.scale * sums.exp;
  const auto total = gamma_pieces<Digits>(alpha0, z0);

  RowMeasures<Real> row;
  row.prediction = extent.top_index;
  const Real entropy = log_sum - sums.exp_t * inverse_sum;
  row[kMaxProb] = inverse_sum;
  row[kEntropy] = entropy;
  row[kPrecision] = alpha0;
  // One division for both inverses; the product would overflow in a wide row.
  const Real next = alpha0 + 1.0;
  const Real inverse_both = 1.0 / (kWide ? next : alpha0 * next);
  const Real inverse_next = kWide ? inverse_both : alpha0 * inverse_both;
  row[kExpectedPairwiseKl] = kWide ? (K - 1.0) / alpha0 : (K - 1.0) * (next * inverse_both);
  const Real variance = 2.0 * sums.pairs * inverse_sum * inverse_sum;
  row[kEpistemicVariance] = variance * inverse_next;
  row[kAleatoricVariance] = variance * (alpha0 * inverse_next);

  // Below alpha0 = 1 the logarithms left out of the psi make up the entropy, so that nothing as large as z0 cancels.
  const auto low = z0 < 0.0;
  const Real positive = larger(z0, zero);
  const Real mean_psi = sums.exp_psi * inverse_sum - total.psi_next(positive);
  const Real information = mean_psi + (low ? entropy : sums.exp_negative * inverse_sum);
  // Computes the smaller part of the entropy directly, not as a difference of the larger ones.
  const Real direct = (positive - sums.exp_positive * inverse_sum) - mean_psi;
  const Real rest = entropy - information;
  const Real data = (low | (rest < information)) ? direct : rest;
  row[kMutualInformation] = information < 0.0 ? zero : information;
  row[kExpectedEntropy] = data < 0.0 ? zero : data;

  row[kDifferentialEntropy] = sums.entropy - sums.product.logarithm_over(total.product) - total.m_without_log_alpha() -
                              alpha0 * total.remainder() - K * total.psi() + (K - 1.0) * kHalfLog2Pi;
  return row;
}

template <class Digits, bool kWide, class Real, class Load>
PRIORNET_DEVICE inline RowMeasures<Real> measure_row(const Load& load, int64_t classes, const RowExtent<Real>& extent) {
  return measures_of<Digits, kWide>(measure_sums<Digits, kWide>(load, classes, extent), classes, extent);
}

template <class Digits, class Real, class Load>
PRIORNET_DEVICE inline RowMeasures<Real> measure_row(const Load& load, int64_t classes) {
  const auto extent = row_extent<Real>(load, classes);
  return is_wide(extent) ? measure_row<Digits, true>(load, classes, extent)
                         : measure_row<Digits, false>(load, classes, extent);
}

// The gradient of a weighted sum of the measures of a row in its logits; docs/math.md, section 2.

/// The weight of each measure of a row: the gradient that arrives.
template <class Real>
struct MeasureWeights {
  Real values[kDirichletMeasures];
};

/// Calls store(c, gradient) for every class c.
template <class Digits, class Real, class Load, class Store>
PRIORNET_DEVICE inline void measure_gradient_row(const Load& load, int64_t classes, const MeasureWeights<Real>& weights,
                                                 const Store& store) {
  const double K = static_cast<double>(classes);
  const Real zero{};
  const auto extent = row_extent<Real>(load, classes);

  Real sum_exp = zero;
  Real sum_pairs = zero;
  Real sum_exp_t = zero;
  Real sum_exp_psi = zero;   // of e^t psi(alpha + 1)
  Real sum_exp_next = zero;  // of e^t (psi(alpha + 1) - z)
  for (int64_t c = 0; c < classes; ++c) {
    const Real z = load(c);
    const Real t = clamp_logit(z - extent.top);
    const Real log_alpha = clamp_logit(z);
    const Real exp_t = exp_of<Digits>(t);
    const auto pieces = gamma_pieces<Digits>(exp_of<Digits>(log_alpha), log_alpha);
    sum_pairs = sum_pairs + exp_t * sum_exp;
    sum_exp = sum_exp + exp_t;
    sum_exp_t = sum_exp_t + exp_t * t;
    sum_exp_psi = sum_exp_psi + exp_t * pieces.psi_next(zero);
    sum_exp_next = sum_exp_next + exp_t * pieces.psi_next(log_alpha);
  }
  const Real inverse_sum = 1.0 / sum_exp;
  const Real log_sum = log_of(sum_exp);
  const Real row_entropy = log_sum - sum_exp_t * inverse_sum;
  const Real mean_psi = sum_exp_psi * inverse_sum;
  const Real mean_next = sum_exp_next * inverse_sum;
  const Real z0 = clamp_logit(extent.top + log_sum);
  const auto total = gamma_pieces<Digits>(exp_of<Digits>(z0), z0);
  const Real pairwise_kl = (K - 1.0) * exp_of<Digits>(-z0);
  const Real variance = 2.0 * sum_pairs * inverse_sum * inverse_sum;
  const Real total_alpha = exp_of<Digits>(z0);
  const Real inverse_next = 1.0 / (total_alpha + 1.0);
  const Real share = total_alpha * inverse_next;
  const auto total_trigamma = trigamma_pieces<Digits>(total, z0);

  for (int64_t c = 0; c < classes; ++c) {
    const Real z = load(c);
    const Real t = clamp_logit(z - extent.top);
    const Real log_alpha = clamp_logit(z);
    const Real alpha = exp_of<Digits>(log_alpha);
    const Real p = exp_of<Digits>(t) * inverse_sum;
    const auto pieces = gamma_pieces<Digits>(alpha, log_alpha);
    const auto trigamma = trigamma_pieces<Digits>(pieces, log_alpha);
    const Real psi_above = pieces.psi_next(zero);
    const Real is_top = extent.top_index == static_cast<double>(c) ? zero + 1.0 : zero;

    Real d[kDirichletMeasures] = {};
    d[kMaxProb] = inverse_sum * (is_top - p);
    d[kEntropy] = -p * (t - log_sum + row_entropy);
    d[kExpectedEntropy] = p * ((total_trigamma.next - trigamma.next) - (psi_above - mean_psi));
    d[kMutualInformation] = p * (trigamma.growth - (mean_next + (total_trigamma.next - 1.0)));
    d[kDifferentialEntropy] =
        (trigamma.first - trigamma.second) - p * (K * total_trigamma.first - total_trigamma.second);
    d[kPrecision] = alpha;
    d[kExpectedPairwiseKl] = -p * pairwise_kl;
    const Real d_variance = 2.0 * p * ((1.0 - p) - variance);
    d[kEpistemicVariance] = inverse_next * (d_variance - variance * p * share);
    d[kAleatoricVariance] = share * (d_variance + variance * p * inverse_next);
    Real gradient = weights.values[0] * d[0];
    for (int m = 1; m < kDirichletMeasures; ++m) gradient = gradient + weights.values[m] * d[m];
    store(c, gradient);
  }
}

}  // namespace priornet
