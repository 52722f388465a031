#pragma once

#include "uncertainty/dirichlet/lanes.h"

// The gamma function and its derivatives in pieces that do not cancel; docs/math.md, section 1.
// With x = a for a >= 6 and x = a + 6 below,
//   D(x) = ln x - psi(x),  L(x) = ln Gamma(x) - [(x - 1/2) ln x - x + ln(2 pi) / 2]
// are small and smooth, and what a smaller argument needs on top are a product and a sum over a + 1 .. a + 5.

namespace priornet {

constexpr double kHalfLog2Pi = 0.91893853320467274178;

template <class Real>
struct GammaPieces {
  Real alpha;          ///< a
  Real log_x;          ///< ln x
  Real l;              ///< L(x)
  Real steps;          ///< x - a: 6 or 0
  Real log_first;      ///< ln a where steps = 6, else 0
  Real product;        ///< (a + 1) ... (a + 5) where steps = 6, else 1
  Real sum;            ///< 1/(a + 1) + ... + 1/(a + 5) where steps = 6, else 0
  Real d_and_sum;      ///< D(x) + sum
  Real inverse_small;  ///< 1/a where steps = 6, else 0
  Real inverse_large;  ///< 1/a where steps = 0, else 0

  /// ln a - psi(a) of the argument itself.
  PRIORNET_DEVICE Real big_d(Real log_alpha) const { return (log_alpha - log_x) + remainder(); }

  /// ln x - psi(a): bounded for large a, 1/a for small a.
  PRIORNET_DEVICE Real remainder() const { return d_and_sum + inverse_small; }

  PRIORNET_DEVICE Real psi() const { return log_x - remainder(); }

  /// psi(a + 1) - reference: with ln a it shrinks like 1/(2a), with 0 it is psi(a + 1) itself.
  PRIORNET_DEVICE Real psi_next(Real reference) const { return (log_x - reference) - d_and_sum + inverse_large; }

  /// M(a) = ln Gamma(a) - a ln a + a - ln(2 pi) / 2, without ln(product), which a caller may collect over many a;
  /// without_log_alpha leaves out the term -a (ln a - ln x), and m_and_log_x also adds ln x.
  PRIORNET_DEVICE Real m_without_log_alpha() const { return (steps - 0.5) * log_x - steps + l - log_first; }
  PRIORNET_DEVICE Real m_and_log_x() const { return (steps + 0.5) * log_x - steps + l - log_first; }
  PRIORNET_DEVICE Real m(Real log_alpha) const { return alpha * (log_x - log_alpha) + m_without_log_alpha(); }
};

/// Pieces for a = alpha = e^log_alpha, |log_alpha| <= 700.
template <class Digits, class Real>
PRIORNET_DEVICE inline GammaPieces<Real> gamma_pieces(Real alpha, Real log_alpha) {
  constexpr double kSteps = 6.0;
  constexpr double kCentre = 8.48528137423857;  // 6 sqrt 2, the middle of [6, 12) for the logarithm
  constexpr double kLogCentre = 2.1383330595080277;
  const Real zero{};
  const Real one = zero + 1.0;
  const auto small = alpha < kSteps;

  GammaPieces<Real> pieces;
  pieces.alpha = alpha;
  pieces.steps = small ? zero + kSteps : zero;
  const Real x = alpha + pieces.steps;

  // With b = a + 3 the product of a + 1 .. a + 5 is b^5 - 5 b^3 + 4 b, and its derivative over it the sum of inverses.
  const Real b = alpha + 3.0;
  const Real b2 = b * b;
  const Real product = b * ((b2 - 5.0) * b2 + 4.0);
  const Real derivative = (5.0 * b2 - 15.0) * b2 + 4.0;
  const Real inverse_x = 1.0 / x;
  const Real inverse_whole = 1.0 / (small ? alpha * product : one);

  pieces.product = small ? product : one;
  pieces.sum = small ? derivative * alpha * inverse_whole : zero;
  pieces.inverse_small = small ? product * inverse_whole : zero;
  pieces.inverse_large = small ? zero : inverse_x;
  pieces.log_x = select(small, kLogCentre + twice_atanh<Digits>((x - kCentre) / (x + kCentre)), log_alpha);
  pieces.log_first = small ? log_alpha : zero;

  const Real y = inverse_x * inverse_x;
  pieces.d_and_sum = inverse_x * 0.5 + (y * Digits::d()(y) + pieces.sum);
  pieces.l = inverse_x * Digits::l()(y);
  return pieces;
}

/// The trigamma function of the same argument, in combinations that stay bounded for large a.
template <class Real>
struct TrigammaPieces {
  Real first;   ///< a psi'(a): 1/a for small a, 1 + 1/(2a) for large
  Real second;  ///< a^2 psi'(a) - a: from 1 for small a to 1/2 for large
  Real next;    ///< a psi'(a + 1): from 0 for small a to 1 for large
  Real growth;  ///< the derivative of a (psi(a + 1) - ln a): shrinks like 1/(12 a^2)
};

template <class Digits, class Real>
PRIORNET_DEVICE inline TrigammaPieces<Real> trigamma_pieces(const GammaPieces<Real>& gamma, Real log_alpha) {
  const Real alpha = gamma.alpha;
  const auto small = gamma.steps > 0.0;
  const Real inverse_x = 1.0 / (alpha + gamma.steps);
  const Real y = inverse_x * inverse_x;
  const Real tail = Digits::t()(y);
  const Real remainder = 0.5 * inverse_x + y * tail;  // x psi'(x) - 1

  // The sum of 1/(a + j)^2, 1 <= j <= 5, is (P'/P)^2 - P''/P for the product P in gamma_pieces.
  const Real b = alpha + 3.0;
  const Real squares = gamma.sum * gamma.sum - b * (20.0 * b * b - 30.0) / gamma.product;
  const Real shifted = alpha * (inverse_x * (1.0 + remainder) + squares);

  TrigammaPieces<Real> pieces;
  pieces.next = select(small, shifted, 1.0 + remainder - inverse_x);
  pieces.first = select(small, shifted + gamma.inverse_small, 1.0 + remainder);
  pieces.second = select(small, alpha * (shifted - 1.0) + 1.0, alpha * remainder);
  pieces.growth = small ? gamma.psi_next(log_alpha) + (shifted - 1.0) : y * (tail - Digits::d()(y));
  return pieces;
}

/// e^-s - 1 + s, the part of a divergence that is left after the sums of logarithms: never negative.
PRIORNET_DEVICE inline double surplus(double s) {
  if (s > 0.1 || s < -0.1) return ::expm1(-s) + s;
  double term = 0.5 * s * s;
  double sum = term;
  for (int k = 3; k <= 12; ++k) sum += term *= -s / k;
  return sum;
}

}  // namespace priornet
