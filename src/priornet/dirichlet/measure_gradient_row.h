#pragma once

#include <priornet/dirichlet/measure_row.h>

// The gradient of a weighted sum of the measures of a row in its logits; docs/math.md, section 2.

namespace priornet {

/// How much each measure of a row weighs: what comes down the graph.
template <class Real>
struct MeasureWeights {
  Real max_prob, entropy, expected_entropy, mutual_information, differential_entropy, precision;
};

/// Calls store(c, gradient) for every class c.
template <class Digits, class Real, class Load, class Store>
PRIORNET_DEVICE inline void measure_gradient_row(const Load& load, int64_t classes, const MeasureWeights<Real>& weights,
                                                 const Store& store) {
  const double K = static_cast<double>(classes);
  const Real zero{};
  const auto extent = row_extent<Real>(load, classes);

  Real sum_exp = zero;
  Real sum_exp_t = zero;
  Real sum_exp_psi = zero;   // of e^t psi(alpha + 1)
  Real sum_exp_next = zero;  // of e^t (psi(alpha + 1) - z)
  for (int64_t c = 0; c < classes; ++c) {
    const Real z = load(c);
    const Real t = clamp_logit(z - extent.top);
    const Real log_alpha = clamp_logit(z);
    const Real exp_t = exp_of<Digits>(t);
    const auto pieces = gamma_pieces<Digits>(exp_of<Digits>(log_alpha), log_alpha);
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

    const Real d_max_prob = inverse_sum * (is_top - p);
    const Real d_entropy = -p * (t - log_sum + row_entropy);
    const Real d_expected_entropy = p * ((total_trigamma.next - trigamma.next) - (psi_above - mean_psi));
    const Real d_mutual_information = p * (trigamma.growth - (mean_next + (total_trigamma.next - 1.0)));
    const Real d_differential_entropy =
        (trigamma.first - trigamma.second) - p * (K * total_trigamma.first - total_trigamma.second);
    store(c, weights.max_prob * d_max_prob + weights.entropy * d_entropy +
                 weights.expected_entropy * d_expected_entropy + weights.mutual_information * d_mutual_information +
                 weights.differential_entropy * d_differential_entropy + weights.precision * alpha);
  }
}

}  // namespace priornet
