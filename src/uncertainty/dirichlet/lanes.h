#pragma once

#include <cmath>
#include <cstdint>

#include "uncertainty/core/device_code.h"

// Polynomials behind the special functions, at two accuracies. Each interpolates its function at Chebyshev nodes.

namespace priornet {

/// A polynomial by its coefficients, the constant first.
template <int kSize>
struct Polynomial {
  double coefficients[kSize];

  template <class Real>
  PRIORNET_DEVICE constexpr Real operator()(Real x) const {
    Real value = x * coefficients[kSize - 1] + coefficients[kSize - 2];
    for (int i = kSize - 3; i >= 0; --i) value = value * x + coefficients[i];
    return value;
  }
};

// In the comments below, y = 1 / x^2 with x >= 6, and each tail is what follows the leading terms:
//   exp()   (e^r - 1 - r - r^2 / 2) / r^3 for |r| <= ln 2 / 2
//   atanh() (atanh(s) / s - 1) / s^2 as a function of s^2, |s| <= (sqrt 2 - 1) / (sqrt 2 + 1)
//   d()     (ln x - psi(x) - 1 / (2x)) / y
//   l()     x [ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi) / 2]
//   t()     x^3 [psi'(x) - 1 / x - 1 / (2 x^2)]

/// Relative errors of at most 4e-16: for float64 results.
struct DoubleDigits {
  PRIORNET_DEVICE static consteval Polynomial<9> exp() {
    return {{0.16666666666666666, 0.04166666666665136, 0.008333333333332155, 0.0013888888905881542,
             0.0001984126985433861, 2.4801536388690766e-05, 2.755728006701698e-06, 2.761380686153829e-07,
             2.5095554677111112e-08}};
  }
  PRIORNET_DEVICE static consteval Polynomial<7> atanh() {
    return {{0.3333333333333335, 0.19999999999949722, 0.14285714313001635, 0.11111105565129939, 0.09091444727837474,
             0.07665855309105386, 0.07308292712444311}};
  }
  PRIORNET_DEVICE static consteval Polynomial<7> d() {
    return {{0.08333333333333294, -0.00833333333196673, 0.003968253174196778, -0.00416649213380119,
             0.007557240349829397, -0.02005781319935496, 0.0527835788020277}};
  }
  PRIORNET_DEVICE static consteval Polynomial<7> l() {
    return {{0.0833333333333333, -0.0027777777776807643, 0.0007936507373369848, -0.0005952257418022643,
             0.0008404447851602169, -0.0018449995052567591, 0.004298394281325464}};
  }
  PRIORNET_DEVICE static consteval Polynomial<7> t() {
    return {{0.16666666666666088, -0.0333333333128563, 0.023809511899145683, -0.03333071001528275, 0.0754782180124743,
             -0.23739189872995023, 0.6958913740129348}};
  }
};

/// Relative errors of at most 6e-13: for float32 results, where even sums over many classes hide it.
struct FloatDigits {
  PRIORNET_DEVICE static consteval Polynomial<7> exp() {
    return {{0.16666666666666666, 0.04166666671901226, 0.008333333338090857, 0.001388885403566671,
             0.00019841238163731054, 2.4859589834589056e-05, 2.761003956932406e-06}};
  }
  PRIORNET_DEVICE static consteval Polynomial<5> atanh() {
    return {{0.33333333333687726, 0.19999999398424337, 0.1428587731786638, 0.11095697246587528, 0.09681388418373767}};
  }
  PRIORNET_DEVICE static consteval Polynomial<5> d() {
    return {{0.08333333333280307, -0.008333332376929561, 0.0039679755928443295, -0.004137939274382973,
             0.006329791558153004}};
  }
  PRIORNET_DEVICE static consteval Polynomial<5> l() {
    return {{0.08333333333328333, -0.0027777776876074405, 0.0007936245896518834, -0.0005925434018205845,
             0.0007257935751502971}};
  }
  PRIORNET_DEVICE static consteval Polynomial<5> t() {
    return {
        {0.16666666666054805, -0.033333322293923835, 0.023806305166301747, -0.0329999247944221, 0.061173994506865656}};
  }
};

/// The accuracy that results of type T need.
template <class T>
struct DigitsOf;
template <>
struct DigitsOf<double> {
  using Type = DoubleDigits;
};
template <>
struct DigitsOf<float> {
  using Type = FloatDigits;
};

/// 2 atanh(s), that is ln((1 + s) / (1 - s)) over a factor of two.
template <class Digits, class Real>
PRIORNET_DEVICE inline Real twice_atanh(Real s) {
  const Real s2 = s * s;
  const Real twice = s + s;
  return twice + twice * (s2 * Digits::atanh()(s2));
}

// The type that the row kernels compute in. A kernel is written once for a type `Real`: double on a GPU and in
// references, or on a CPU a vector of doubles whose lanes are rows. Arithmetic, comparison and `condition ? a : b` mean
// the same for both; this header adds the few functions that differ. `Digits` says how exact an approximation has to
// be.

template <class Real>
PRIORNET_DEVICE inline Real larger(Real a, Real b) {
  return a > b ? a : b;
}
template <class Real>
PRIORNET_DEVICE inline Real smaller(Real a, Real b) {
  return a < b ? a : b;
}

/// `condition ? a : b` where both are worth computing: on a GPU the compiler would branch, and then lanes of a warp
/// that disagree take turns, and a thread cannot work on two classes at once.
template <class Condition, class Real>
PRIORNET_DEVICE inline Real select(Condition condition, Real a, Real b) {
  return condition ? a : b;
}
PRIORNET_DEVICE inline double select(bool condition, double a, double b) {
#if defined(__CUDA_ARCH__)
  double value;
  asm("{ .reg .pred p; setp.ne.s32 p, %3, 0; selp.f64 %0, %1, %2, p; }"
      : "=d"(value)
      : "d"(a), "d"(b), "r"(static_cast<int>(condition)));
  return value;
#else
  return condition ? a : b;
#endif
}

template <class Digits>
PRIORNET_DEVICE inline double exp_of(double x) {
  return ::exp(x);
}
PRIORNET_DEVICE inline double log_of(double x) { return ::log(x); }
PRIORNET_DEVICE inline bool any_of(bool a, bool b) { return a || b; }

#if !defined(__CUDACC__)

template <int kLanes, class T>
struct LanesOf {
  typedef T Type __attribute__((vector_size(kLanes * sizeof(T))));
};
template <int kLanes, class T = double>
using Lanes = typename LanesOf<kLanes, T>::Type;
template <class Real>
using IntLanes = Lanes<sizeof(Real) / sizeof(double), int64_t>;

/// Element i of the result is row[i * stride]: one column, for as many rows as there are lanes.
template <int kLanes>
inline Lanes<kLanes> gather(const double* row, int64_t stride) {
  Lanes<kLanes> values{};
  for (int i = 0; i < kLanes; ++i) values[i] = row[i * stride];
  return values;
}
template <int kLanes>
inline Lanes<kLanes> gather(const float* row, int64_t stride) {
  Lanes<kLanes, float> values{};
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

/// ln x for positive, finite, normal x; 2 ulp. NaN for NaN.
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

/// Whether one of two conditions holds in one of the lanes.
template <class Mask>
inline bool any_of(Mask a, Mask b) {
  constexpr int kLanes = sizeof(Mask) / sizeof(int64_t);
  const Mask mask = a | b;
  int64_t found = 0;
  for (int i = 0; i < kLanes; ++i) found |= mask[i];
  return found != 0;
}

#endif

}  // namespace priornet
