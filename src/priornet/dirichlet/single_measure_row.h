#pragma once

#include <priornet/dirichlet/measure_row.h>
#include <priornet/dirichlet/single_digits.h>

// All measures of one row of float32 logits, the classes in float32 and their totals in float64, to 1e-6 of the exact
// value: docs/math.md, section 2, says why that is enough from K = 8 on. The class of the largest logit is left out of
// the float32 sums: what is left of the others next to it keeps its digits.

namespace priornet {

constexpr double kEuler = 0.57721566490153286061;
/// Logits beyond it, either way, are for measure_row in float64.
constexpr float kSingleLogit = 64.0f;
constexpr int64_t kSingleFewestClasses = 8;

/// Sums over some classes of a row, t = z - top; all but the last leave out the class of the largest logit.
template <class Real>
struct SingleSums {
  Real alpha{};           ///< of alpha
  Real alpha_t{};         ///< of alpha t
  Real alpha_psi{};       ///< of alpha (psi(alpha + 1) - max(z, 0)), with Euler's constant added where top < 0
  Real alpha_negative{};  ///< of alpha min(z, 0)
  Real alpha_positive{};  ///< of alpha max(z, 0)
  Real entropy{};         ///< of the terms of the differential entropy
};

/// Adds a class of logit z to sums.
PRIORNET_DEVICE inline void add_single(SingleSums<float>& sums, float z, float top, bool is_top) {
  const float alpha = single_exp(::fmaxf(z, -80.0f));  // a lower one shows in the sum of inverses
  const float inverse = approximate_inverse(alpha);
  const bool below = z < 0.0f;
  const float v = alpha * approximate_inverse(alpha + SingleDigits::kShift);
  // Where all are below 1, psi(alpha + 1) without its constant is what the expected entropy is made of.
  const float constant = top < 0.0f ? 0.0f : static_cast<float>(kEuler);
  const float psi_below = ::fmaf(alpha, SingleDigits::psi_below()(v), -constant);
  const float psi_above = inverse * SingleDigits::psi_above()(inverse);
  const float entropy_below = SingleDigits::entropy_below()(v) - z - inverse;
  const float entropy_above = ::fmaf(0.5f, z, ::fmaf(inverse, SingleDigits::entropy_above()(inverse), 0.5f));
  const float weight = is_top ? 0.0f : alpha;
  sums.alpha += weight;
  sums.alpha_t = ::fmaf(weight, z - top, sums.alpha_t);
  sums.alpha_psi = ::fmaf(weight, below ? psi_below : psi_above, sums.alpha_psi);
  sums.alpha_negative = ::fmaf(weight, ::fminf(z, 0.0f), sums.alpha_negative);
  sums.alpha_positive = ::fmaf(weight, ::fmaxf(z, 0.0f), sums.alpha_positive);
  sums.entropy += below ? entropy_below : entropy_above;
}

/// A few classes at a time: of many, the sum itself would lose digits in float32.
constexpr int kSingleChunk = 8;
PRIORNET_DEVICE inline void add_chunk(SingleSums<double>& sums, const SingleSums<float>& chunk) {
  sums.alpha += static_cast<double>(chunk.alpha);
  sums.alpha_t += static_cast<double>(chunk.alpha_t);
  sums.alpha_psi += static_cast<double>(chunk.alpha_psi);
  sums.alpha_negative += static_cast<double>(chunk.alpha_negative);
  sums.alpha_positive += static_cast<double>(chunk.alpha_positive);
  sums.entropy += static_cast<double>(chunk.entropy);
}

/// Whether float32 did for the row; not if a logit was too large, too small or no number.
PRIORNET_DEVICE inline bool is_single_enough(const SingleSums<double>& sums, float top) {
  constexpr double kLargest = 6.2e27;  // e^64: a class of logit z below -64 adds -e^-z
  return top <= kSingleLogit && sums.entropy < kLargest && sums.entropy > -kLargest;
}

/// The measures of a row of which is_single_enough.
PRIORNET_DEVICE inline RowMeasures<double> measures_of(const SingleSums<double>& single, int64_t classes, float top,
                                                       int64_t top_index) {
  const double z = static_cast<double>(top);
  const double alpha = ::exp(z);
  const double inverse = 1.0 / alpha;
  const double positive = larger(z, 0.0);
  const auto pieces = gamma_pieces<FloatDigits>(alpha, z);
  MeasureSums<double> sums;
  sums.scale = alpha;
  sums.exp = 1.0 + single.alpha * inverse;
  sums.exp_t = single.alpha_t * inverse;
  const double constant = top < 0.0f ? kEuler * single.alpha : 0.0;
  sums.exp_psi = (single.alpha_psi - constant) * inverse + pieces.psi_next(positive);
  sums.exp_negative = positive - z - single.alpha_negative * inverse;
  sums.exp_positive = positive + single.alpha_positive * inverse;
  sums.entropy = single.entropy;
  return measures_of<FloatDigits, false>(sums, classes, RowExtent<double>{z, static_cast<double>(top_index), z});
}

}  // namespace priornet
