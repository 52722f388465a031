#pragma once

#include "uncertainty/dirichlet/single_measure_row.h"
#include "uncertainty/losses/loss_row.h"

// The forward divergence of one row of float32 logits from smoothed labels or the flat target, for a GPU: the classes
// in float32, alpha0, the label and the totals in float64. docs/math.md, section 5, says why that is exact enough, and
// for which rows it is not: these are for loss_row.h.
//
// A second way beside loss_row.h, because it is faster for long rows (docs/results.md).

namespace priornet {

/// e^z of a class, for the sum over all of them.
PRIORNET_DEVICE inline double concentration_of(float z) {
  return exp_of<FloatDigits>(QuickDouble(static_cast<double>(z))).value;
}

/// M(a) in float32 with errors of at most 1e-8 before rounding: below a = 1 in v = a / (a + kShift), then in u = 1 / a.
struct SingleM {
  static constexpr float kOfOne = 0.08106146680f;  ///< M(1)

  /// (ln Gamma(a + 1) + a - 1) / (a - 1)
  PRIORNET_DEVICE static consteval SinglePolynomial<8> below() {
    return {
        {1.0f, 1.010129094f, 0.2589482069f, 0.3430705369f, 0.15452905f, 0.3156509995f, -0.2037128657f, 0.5820612907f}};
  }
  /// a (M(a) + ln(a) / 2)
  PRIORNET_DEVICE static consteval SinglePolynomial<7> above() {
    return {{0.08333333582f, -3.497345347e-7f, -0.002770688152f, -6.090973329e-5f, 0.001063533127f, -0.0006456698757f,
             0.000142218938f}};
  }
};

/// What a class needs to know about its row.
struct SingleLossRow {
  float offset_high, offset_low;  ///< psi(beta0) - psi(beta) - ln alpha0, in two parts; beta: not of the label
  float inverse;                  ///< 1 / alpha0
  float divergence_weight;
  float share_weight;  ///< of p in the gradient: what the divergence of alpha0 and the cross-entropy add

  PRIORNET_DEVICE SingleLossRow(double log_alpha0, double alpha0_d, double inverse_alpha0, double psi_difference,
                                const RowWeights& weights)
      : inverse(static_cast<float>(inverse_alpha0)),
        divergence_weight(static_cast<float>(weights.divergence)),
        share_weight(static_cast<float>(weights.divergence * alpha0_d + weights.cross_entropy)) {
    const double offset = -psi_difference - log_alpha0;
    offset_high = static_cast<float>(offset);
    offset_low = static_cast<float>(offset - static_cast<double>(offset_high));
  }
};

/// One class, or the sum over some.
template <class Real>
struct SingleLossTerms {
  Real value{};  ///< alpha [ln p - psi(beta) + psi(beta0)] + M(alpha)
  Real size{};   ///< the absolute values of its two parts: the rounding errors are a small share of it

  PRIORNET_DEVICE void add(const SingleLossTerms<float>& other) {
    value += static_cast<Real>(other.value);
    size += static_cast<Real>(other.size);
  }
};

/// The terms of a class that is not the label, and its gradient.
PRIORNET_DEVICE inline SingleLossTerms<float> single_loss_class(float z, const SingleLossRow& row, float& gradient) {
  const float alpha = single_exp(z);
  const float inverse = approximate_inverse(by_sign(z, alpha, alpha + SingleDigits::kShift));
  const float v = alpha * inverse;
  // ln p - psi(beta) + psi(beta0): if it is small, the first sum is exact.
  const float product = alpha * ((z + row.offset_high) + row.offset_low);
  const float m_below = ::fmaf(-z, alpha + 1.0f, ::fmaf(alpha - 1.0f, SingleM::below()(v), SingleM::kOfOne));
  const float m_above = ::fmaf(inverse, SingleM::above()(inverse), -0.5f * z);
  const float m = by_sign(z, m_above, m_below);
  // 1 - alpha D(alpha) = 1 - alpha (ln alpha - psi(alpha)) = alpha (psi(alpha + 1) - ln alpha)
  const float psi_next = ::fmaf(alpha, SingleDigits::psi_below()(v), -static_cast<float>(kEuler));
  const float next = by_sign(z, SingleDigits::psi_above()(inverse), alpha * (psi_next - z));
  gradient = ::fmaf(alpha * row.inverse, row.share_weight, row.divergence_weight * (product + (next - 1.0f)));
  return {product + m, ::fabsf(product) + ::fabsf(m)};
}

/// The label of a row, in float64; without one, index is -1 and the rest is not used.
struct SingleLabel {
  int64_t index;
  double z, alpha;
};

/// What float64 says about alpha0 or about the label.
struct SingleTotal {
  double log;  ///< ln alpha0; of the label -ln p
  double m;    ///< M(a)
  double a_d;  ///< a D(a)
};
PRIORNET_DEVICE inline SingleTotal single_total(double alpha0, const SingleLabel& label, bool of_label) {
  const QuickDouble logarithm = log_of(of_label ? QuickDouble(alpha0) / label.alpha : QuickDouble(alpha0));
  const QuickDouble a = of_label ? label.alpha : alpha0;
  const QuickDouble log_a = of_label ? label.z : logarithm.value;
  const auto pieces = gamma_pieces<FloatDigits>(a, log_a);
  return {logarithm.value, (pieces.m(log_a) - log_of(pieces.product)).value, (a * pieces.big_d(log_a)).value};
}

struct SingleLoss {
  double divergence, cross_entropy;
  double label_gradient;
  bool enough;  ///< if not, the row is for loss_row
};

/// How much of the size of its terms the divergence has to be, so that their rounding errors do not count.
constexpr double kSingleLeastShare = 0.25;

/// `terms` over all classes but the label, `largest` of |z| over all.
PRIORNET_DEVICE inline SingleLoss single_loss(const SingleLossTerms<double>& terms, float largest,
                                              const SingleTotal& total, double inverse_alpha0, const SingleLabel& label,
                                              const SingleTotal& of_label, const LabelTarget<double>& target,
                                              const RowWeights& weights) {
  SingleLoss loss{terms.value - total.m + target.sum.forward, 0.0, 0.0, false};
  if (label.index >= 0) {
    const double product = label.alpha * (-of_label.log - target.on.psi_difference);
    const double p = label.alpha * inverse_alpha0;
    loss.divergence += product + of_label.m;
    loss.cross_entropy = of_label.log;
    loss.label_gradient =
        weights.divergence * (product + p * total.a_d - of_label.a_d) + weights.cross_entropy * (p - 1.0);
  }
  // Not so if one of them is NaN.
  loss.enough = loss.divergence >= kSingleLeastShare * terms.size && largest <= kSingleLogit;
  return loss;
}

}  // namespace priornet
