#pragma once

#include <cmath>
#include <cstdint>

#include <priornet/dirichlet/digits.h>

// What the row kernels compute in. A kernel is written once for a type `Real`: double on a GPU and in references, or a
// vector of doubles whose lanes are rows on a CPU. Arithmetic, comparison and `condition ? a : b` mean the same for
// both; this header adds the few functions that differ. `Digits` says how exact an approximation has to be.

namespace priornet {

template <class Real>
PRIORNET_DEVICE inline Real larger(Real a, Real b) {
  return a > b ? a : b;
}
template <class Real>
PRIORNET_DEVICE inline Real smaller(Real a, Real b) {
  return a < b ? a : b;
}

template <class Digits>
PRIORNET_DEVICE inline double exp_of(double x) {
  return ::exp(x);
}
PRIORNET_DEVICE inline double log_of(double x) { return ::log(x); }
PRIORNET_DEVICE inline bool any(bool condition) { return condition; }

#if !defined(__CUDACC__)

template <int kLanes>
struct LanesOf {
  typedef double Double __attribute__((vector_size(kLanes * sizeof(double))));
  typedef float Float __attribute__((vector_size(kLanes * sizeof(float))));
  typedef int64_t Int __attribute__((vector_size(kLanes * sizeof(int64_t))));
};
template <int kLanes>
using Lanes = typename LanesOf<kLanes>::Double;
template <class Real>
using IntLanes = typename LanesOf<sizeof(Real) / sizeof(double)>::Int;

/// Element i of the result is row[i * stride]: one column of as many rows as there are lanes.
template <int kLanes>
inline Lanes<kLanes> gather(const double* row, int64_t stride) {
  Lanes<kLanes> values{};
  for (int i = 0; i < kLanes; ++i) values[i] = row[i * stride];
  return values;
}
template <int kLanes>
inline Lanes<kLanes> gather(const float* row, int64_t stride) {
  typename LanesOf<kLanes>::Float values{};
  for (int i = 0; i < kLanes; ++i) values[i] = row[i * stride];
  return __builtin_convertvector(values, Lanes<kLanes>);
}

/// e^x for x in [-708, 709].
template <class Digits, class Real>
inline Real exp_of(Real x) {
  using Int = IntLanes<Real>;
  // Adding 1.5 * 2^52 rounds to a whole number and leaves it in the low bits.
  constexpr double kRound = 0x1.8p52;
  const Real rounded = x * 0x1.71547652b82fep0 + kRound;
  const Real n = rounded - kRound;
  const Real r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;  // ln 2 in two parts
  const Real r2 = r * r;
  const Real value = 1.0 + (r + r2 * (r * Digits::exp()(r) + 0.5));
  return (Real)((Int)value + ((Int)rounded << 52));
}

/// ln x of positive, finite, normal x; 2 ulp. Of a NaN it is NaN.
template <class Real>
inline Real log_of(Real x) {
  using Int = IntLanes<Real>;
  // The exponent that leaves a mantissa in [sqrt 1/2, sqrt 2): the offset is the bit pattern of sqrt 1/2.
  const Int bits = (Int)x - 0x3fe6a09e667f3bcdLL;
  const Int exponent = bits >> 52;
  const Real mantissa = (Real)((Int)x - (exponent << 52));
  const Real e = __builtin_convertvector(exponent, Real);
  const Real quotient = (mantissa - 1.0) / (mantissa + 1.0);
  const Real logarithm = e * 0x1.62e42feep-1 + (twice_atanh<DoubleDigits>(quotient) + e * 0x1.a39ef35793c76p-33);
  return x == x ? logarithm : x;  // the bits of a NaN would be those of 2^1024
}

template <class Mask>
inline bool any(Mask mask) {
  constexpr int kLanes = sizeof(Mask) / sizeof(int64_t);
  int64_t found = 0;
  for (int i = 0; i < kLanes; ++i) found |= mask[i];
  return found != 0;
}

#endif

}  // namespace priornet
