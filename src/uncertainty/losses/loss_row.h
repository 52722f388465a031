#pragma once

#include "uncertainty/dirichlet/logit_row.h"

// The divergence of one row of logits (or of as many rows as `Real` has lanes) from its target Dirichlet, the
// cross-entropy, and the gradient of their weighted sum. docs/math.md, section 5, derives the forms used here.

namespace priornet {

enum class RowDivergence { kNone, kForward, kReverse };

/// What the loss needs about one class of the target, with concentration beta and sum beta0.
template <class Real>
struct TargetClass {
  Real beta;
  Real psi_difference;  ///< psi(beta) - psi(beta0)
  Real forward;         ///< the terms of beta alone: -M(beta) - beta D(beta)
  Real reverse;         ///< M(beta) + beta ln(beta / beta0)
};

/// The same terms of the target in total: with those of all classes, unless Target::kTermsPerClass.
template <class Real>
struct TargetTotal {
  Real beta0;
  Real forward;  ///< M(beta0) + beta0 D(beta0)
  Real reverse;  ///< -M(beta0)
};

template <class Real>
struct RowLoss {
  Real divergence, cross_entropy;
};

/// The weight of each part in the gradient.
struct RowWeights {
  double divergence, cross_entropy;
};

/// What is kept about a class between the pass that sums and the pass that writes the gradient.
template <class Real>
struct KeptClass {
  Real exp_t;
  Real slope;  ///< of the divergence in z, before the part that the sums add
};

/// What the classes of a row add up to; t = z - top.
template <class Real>
struct LossSums {
  Real scale{};  ///< not a sum: e^top
  Real exp{};    ///< of e^t
  Real mean{};   ///< forward: of alpha (t - psi(beta) + psi(beta0)); reverse: of -beta t
  Real rest{};   ///< of what does not grow with alpha, except for the logarithm of
  LogProduct<Real> product;
  Real t_label{};  ///< t of the label, 0 if it is not among the classes
};

/// Over the classes first, first + step, ...: all of them, or the share of one among `step` threads. `load(c)` is a
/// logit, `target(c)` a TargetClass, `label` the class whose cross-entropy counts, `kept[c]` memory for a KeptClass.
/// `kAtOnce` classes have no branch between them, so that a thread can work on all of them at once.
template <class Digits, RowDivergence kDivergence, bool kWide, int kAtOnce = 1, class Real, class Load, class Target,
          class Kept>
PRIORNET_DEVICE inline LossSums<Real> loss_sums(const Load& load, int64_t classes, const RowExtent<Real>& extent,
                                                const Target& target, Real label, const Kept& kept, int64_t first = 0,
                                                int64_t step = 1) {
  constexpr bool kForward = kDivergence == RowDivergence::kForward;
  constexpr bool kReverse = kDivergence == RowDivergence::kReverse;
  const RowExponentials<Digits, kWide, Real> exponentials(extent.top);
  LossSums<Real> sums;
  sums.scale = exponentials.scale;
  // Returns the factor of the class.
  const auto add = [&](int64_t c) {
    const Real z = load(c);
    const Real t = kWide ? clamp_logit(z - extent.top) : z - extent.top;
    const Real exp_t = exponentials.relative(t);
    sums.exp = sums.exp + exp_t;
    sums.t_label = label == static_cast<double>(c) ? t : sums.t_label;
    kept[c].exp_t = exp_t;
    if constexpr (kDivergence != RowDivergence::kNone) {
      const Real alpha = exponentials.alpha(z, exp_t);
      const Real log_alpha = kWide ? clamp_logit(z) : z;
      const auto pieces = gamma_pieces<Digits>(alpha, log_alpha);
      const auto wanted = target(c);
      const Real d = pieces.big_d(log_alpha);
      if constexpr (kForward) {
        sums.mean = sums.mean + alpha * (t - wanted.psi_difference);
        sums.rest = sums.rest + pieces.m(log_alpha);
        kept[c].slope = alpha * (t - d - wanted.psi_difference);
      }
      if constexpr (kReverse) {
        sums.mean = sums.mean - wanted.beta * t;
        sums.rest = sums.rest - (pieces.m(log_alpha) - d * (wanted.beta - alpha));
        const auto trigamma = trigamma_pieces<Digits>(pieces, log_alpha);
        kept[c].slope = trigamma.second - wanted.beta * trigamma.first;
      }
      if constexpr (Target::kTermsPerClass) sums.rest = sums.rest + (kForward ? wanted.forward : wanted.reverse);
      return pieces.product;
    }
    return Real{};
  };
  int64_t c = first;
  if constexpr (kAtOnce > 1) {
    for (; c + (kAtOnce - 1) * step < classes; c += kAtOnce * step) {
      Real product = add(c);
      for (int i = 1; i < kAtOnce; ++i) product = product * add(c + i * step);
      if constexpr (kDivergence != RowDivergence::kNone) sums.product.multiply(product, kAtOnce);
    }
  }
  for (; c < classes; c += step) {
    const Real product = add(c);
    if constexpr (kDivergence != RowDivergence::kNone) sums.product.multiply(product);
  }
  return sums;
}

/// What follows from the sums of all classes.
template <class Real>
struct LossTotals {
  RowLoss<Real> loss;
  Real inverse_sum;
  Real slope;  ///< what the sums add to a slope: a share e^t of it
};

template <class Digits, RowDivergence kDivergence, bool kWide, class Real, class Target>
PRIORNET_DEVICE inline LossTotals<Real> loss_totals(const LossSums<Real>& sums, const RowExtent<Real>& extent,
                                                    const Target& target) {
  constexpr bool kForward = kDivergence == RowDivergence::kForward;
  constexpr bool kReverse = kDivergence == RowDivergence::kReverse;
  const Real zero{};
  const Real log_sum = log_of(sums.exp);
  LossTotals<Real> totals{{zero, log_sum - sums.t_label}, 1.0 / sums.exp, zero};
  if constexpr (kDivergence != RowDivergence::kNone) {
    const Real z0 = kWide ? clamp_logit(extent.top + log_sum) : extent.top + log_sum;
    const Real alpha0 = kWide ? exp_of<Digits>(z0) : sums.scale * sums.exp;
    const auto total = gamma_pieces<Digits>(alpha0, z0);
    const TargetTotal<Real> wanted = target.total();
    const Real d0 = total.big_d(z0);
    const Real log_products = sums.product.logarithm_over(total.product);
    if constexpr (kForward) {
      totals.loss.divergence = (sums.mean - alpha0 * log_sum) + sums.rest - log_products - total.m(z0) + wanted.forward;
      totals.slope = alpha0 * totals.inverse_sum * (d0 - log_sum);
    }
    if constexpr (kReverse) {
      totals.loss.divergence = (sums.mean + wanted.beta0 * log_sum + wanted.reverse) + sums.rest + log_products +
                               total.m(z0) - d0 * (wanted.beta0 - alpha0);
      const auto trigamma = trigamma_pieces<Digits>(total, z0);
      totals.slope = totals.inverse_sum * (wanted.beta0 * trigamma.first - trigamma.second);
    }
  }
  return totals;
}

/// Calls store(c, gradient) for the classes first, first + step, ...
template <RowDivergence kDivergence, class Real, class Kept, class Store>
PRIORNET_DEVICE inline void loss_gradient(const LossTotals<Real>& totals, int64_t classes, Real label,
                                          const RowWeights& weights, const Kept& kept, const Store& store,
                                          int64_t first = 0, int64_t step = 1) {
  const Real zero{};
  for (int64_t c = first; c < classes; c += step) {
    const Real is_label = label == static_cast<double>(c) ? zero + 1.0 : zero;
    Real gradient = weights.cross_entropy * (kept[c].exp_t * totals.inverse_sum - is_label);
    if constexpr (kDivergence != RowDivergence::kNone)
      gradient = gradient + weights.divergence * (kept[c].slope + kept[c].exp_t * totals.slope);
    store(c, gradient);
  }
}

/// All of it, for one thread.
template <class Digits, RowDivergence kDivergence, bool kWide, class Real, class Load, class Target, class Store>
PRIORNET_DEVICE inline RowLoss<Real> loss_row(const Load& load, int64_t classes, const RowExtent<Real>& extent,
                                              const Target& target, Real label, const RowWeights& weights,
                                              KeptClass<Real>* kept, const Store& store) {
  const auto sums = loss_sums<Digits, kDivergence, kWide>(load, classes, extent, target, label, kept);
  const auto totals = loss_totals<Digits, kDivergence, kWide>(sums, extent, target);
  loss_gradient<kDivergence>(totals, classes, label, weights, kept, store);
  return totals.loss;
}

// The target of a row, class by class, in the form that loss_row takes.

/// One concentration on the label and another elsewhere; where the label is -1, both are the same.
template <class Real>
struct LabelTarget {
  static constexpr bool kTermsPerClass = false;
  TargetClass<double> on, off;
  TargetTotal<double> sum;
  Real label;

  PRIORNET_DEVICE TargetClass<Real> operator()(int64_t c) const {
    const auto is_label = label == static_cast<double>(c);
    const Real zero{};
    return {is_label ? zero + on.beta : zero + off.beta,
            is_label ? zero + on.psi_difference : zero + off.psi_difference, zero, zero};
  }
  PRIORNET_DEVICE TargetTotal<Real> total() const {
    const Real zero{};
    return {zero + sum.beta0, zero + sum.forward, zero + sum.reverse};
  }
};

/// Concentrations and their sum: what every target is made of.
template <class Digits, class Real>
class TargetSum {
 public:
  PRIORNET_DEVICE explicit TargetSum(Real beta0) : beta0_(beta0), log_beta0_(log_of(beta0)) {
    pieces_ = gamma_pieces<Digits>(beta0_, log_beta0_);
  }

  PRIORNET_DEVICE TargetClass<Real> of_class(Real beta) const {
    const Real log_beta = log_of(beta);
    const auto pieces = gamma_pieces<Digits>(beta, log_beta);
    const Real m = pieces.m(log_beta) - log_of(pieces.product);
    return {beta, pieces.psi() - pieces_.psi(), -m - beta * pieces.big_d(log_beta), m + beta * (log_beta - log_beta0_)};
  }
  PRIORNET_DEVICE TargetTotal<Real> total() const {
    const Real m = pieces_.m(log_beta0_) - log_of(pieces_.product);
    return {beta0_, m + beta0_ * pieces_.big_d(log_beta0_), -m};
  }

 private:
  Real beta0_, log_beta0_;
  GammaPieces<Real> pieces_;
};

/// A probability for every class, times alpha0. `load(c)` is the probability of class c.
template <class Digits, class Real, class Load>
class TeacherTarget {
 public:
  static constexpr bool kTermsPerClass = true;

  PRIORNET_DEVICE TeacherTarget(const Load& load, int64_t classes, double alpha0)
      : load_(load), alpha0_(alpha0), sum_(beta0(load, classes, alpha0)) {}

  PRIORNET_DEVICE TargetClass<Real> operator()(int64_t c) const { return sum_.of_class(alpha0_ * load_(c)); }
  PRIORNET_DEVICE TargetTotal<Real> total() const { return sum_.total(); }

 private:
  PRIORNET_DEVICE static Real beta0(const Load& load, int64_t classes, double alpha0) {
    Real sum{};
    for (int64_t c = 0; c < classes; ++c) sum = sum + load(c);
    return alpha0 * sum;
  }

  const Load& load_;
  double alpha0_;
  TargetSum<Digits, Real> sum_;
};

/// The concentration `on` for the label and `off` for all other classes.
PRIORNET_DEVICE inline LabelTarget<double> label_target(double on, double off, int64_t classes) {
  const auto others = static_cast<double>(classes - 1);
  const TargetSum<DoubleDigits, double> sum(on + others * off);
  LabelTarget<double> target{sum.of_class(on), sum.of_class(off), sum.total(), -1.0};
  target.sum.forward += target.on.forward + others * target.off.forward;
  target.sum.reverse += target.on.reverse + others * target.off.reverse;
  return target;
}

}  // namespace priornet
