#pragma once

#include <priornet/dirichlet/row.h>

// The divergence of one row of logits (or of as many rows as `Real` has lanes) from its target Dirichlet, the
// cross-entropy, and the gradient of their weighted sum. docs/math.md, section 5, derives the forms used here.

namespace priornet {

enum class RowDivergence { kNone, kForward, kReverse };

/// What the loss needs to know of one class of the target, with concentration beta and sum beta0.
template <class Real>
struct TargetClass {
  Real beta;
  Real log_mean;        ///< ln(beta / beta0)
  Real psi_difference;  ///< psi(beta) - psi(beta0)
  Real m;               ///< M(beta)
  Real beta_d;          ///< beta D(beta)
};

/// And of their sum.
template <class Real>
struct TargetTotal {
  Real beta0;
  Real m;        ///< M(beta0)
  Real beta0_d;  ///< beta0 D(beta0)
};

template <class Real>
struct RowLoss {
  Real divergence, cross_entropy;
};

/// How much each part weighs in the gradient.
struct RowWeights {
  double divergence, cross_entropy;
};

/// What is kept of a class between the pass that sums and the pass that writes the gradient.
template <class Real>
struct KeptClass {
  Real exp_t;
  Real slope;  ///< of the divergence in z, short of what the sums add
};

/// `load(c)` is a logit, `target(c)` a TargetClass, `label` the class whose cross-entropy counts, `kept` room for as
/// many classes; store(c, gradient) is called for every class.
template <class Digits, RowDivergence kDivergence, bool kWide, class Real, class Load, class Target, class Store>
PRIORNET_DEVICE inline RowLoss<Real> loss_row(const Load& load, int64_t classes, const RowExtent<Real>& extent,
                                              const Target& target, Real label, const RowWeights& weights,
                                              KeptClass<Real>* kept, const Store& store) {
  constexpr bool kForward = kDivergence == RowDivergence::kForward;
  constexpr bool kReverse = kDivergence == RowDivergence::kReverse;
  const RowExponentials<Digits, kWide, Real> exponentials(extent.top);
  const Real zero{};
  Real sum_exp = zero;   // of e^t, t = z - top
  Real sum_mean = zero;  // of alpha (forward) or beta (reverse) times t, less its target
  Real sum_rest = zero;
  Real t_label = zero;
  LogProduct<Real> product;
  for (int64_t c = 0; c < classes; ++c) {
    const Real z = load(c);
    const Real t = kWide ? clamp_logit(z - extent.top) : z - extent.top;
    const Real exp_t = exponentials.relative(t);
    sum_exp = sum_exp + exp_t;
    t_label = label == static_cast<double>(c) ? t : t_label;
    kept[c].exp_t = exp_t;
    if constexpr (kDivergence != RowDivergence::kNone) {
      const Real alpha = exponentials.alpha(z, exp_t);
      const Real log_alpha = kWide ? clamp_logit(z) : z;
      const auto pieces = gamma_pieces<Digits>(alpha, log_alpha);
      const auto wanted = target(c);
      const Real d = pieces.big_d(log_alpha);
      product.multiply(pieces.product);
      if constexpr (kForward) {
        sum_mean = sum_mean + alpha * (t - wanted.psi_difference);
        sum_rest = sum_rest + pieces.m(log_alpha) - wanted.m - wanted.beta_d;
        kept[c].slope = alpha * (t - d - wanted.psi_difference);
      }
      if constexpr (kReverse) {
        sum_mean = sum_mean + wanted.beta * (wanted.log_mean - t);
        sum_rest = sum_rest - pieces.m(log_alpha) + wanted.m + d * (wanted.beta - alpha);
        const auto trigamma = trigamma_pieces<Digits>(pieces, log_alpha);
        kept[c].slope = trigamma.second - wanted.beta * trigamma.first;
      }
    }
  }

  const Real log_sum = log_of(sum_exp);
  const Real inverse_sum = 1.0 / sum_exp;
  RowLoss<Real> loss{zero, log_sum - t_label};
  Real slope_total = zero;  // what the sums add to a slope: a share e^t of it
  if constexpr (kDivergence != RowDivergence::kNone) {
    const Real z0 = kWide ? clamp_logit(extent.top + log_sum) : extent.top + log_sum;
    const Real alpha0 = kWide ? exp_of<Digits>(z0) : exponentials.scale * sum_exp;
    const auto total = gamma_pieces<Digits>(alpha0, z0);
    const TargetTotal<Real> wanted = target.total();
    const Real d0 = total.big_d(z0);
    const Real log_products = product.logarithm_over(total.product);
    if constexpr (kForward) {
      loss.divergence =
          (sum_mean - alpha0 * log_sum) + sum_rest - log_products - total.m(z0) + wanted.m + wanted.beta0_d;
      slope_total = alpha0 * inverse_sum * (d0 - log_sum);
    }
    if constexpr (kReverse) {
      loss.divergence = (sum_mean + wanted.beta0 * log_sum) + sum_rest + log_products + total.m(z0) - wanted.m -
                        d0 * (wanted.beta0 - alpha0);
      const auto trigamma = trigamma_pieces<Digits>(total, z0);
      slope_total = inverse_sum * (wanted.beta0 * trigamma.first - trigamma.second);
    }
  }
  for (int64_t c = 0; c < classes; ++c) {
    const Real is_label = label == static_cast<double>(c) ? zero + 1.0 : zero;
    Real gradient = weights.cross_entropy * (kept[c].exp_t * inverse_sum - is_label);
    if constexpr (kDivergence != RowDivergence::kNone)
      gradient = gradient + weights.divergence * (kept[c].slope + kept[c].exp_t * slope_total);
    store(c, gradient);
  }
  return loss;
}

}  // namespace priornet
