#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "uncertainty/core/device_code.h"
#include "uncertainty/dirichlet/lanes.h"

// Inexact instructions of a GPU, and functions made from them. On a CPU such an instruction is modelled by the correct
// value made as wrong as a GPU's may be, so that tests see the worst.

namespace priornet {

#if !defined(__CUDA_ARCH__)
/// `value` changed by the given share, up or down by the bits of `x`.
inline double off_by(double share, double value, double x) {
  const auto bits = static_cast<uint32_t>(std::bit_cast<uint64_t>(x) >> 29);
  const bool up = (((bits * 2654435761u) >> 16) & 1u) != 0;
  return value * (1.0 + (up ? share : -share));
}
#endif

/// 1 / x for |x| in [2^-126, 2^126], with a relative error of 2^-23.
PRIORNET_DEVICE inline float approximate_inverse(float x) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
#else
  return static_cast<float>(off_by(0x1p-23, 1.0 / static_cast<double>(x), static_cast<double>(x)));
#endif
}

/// `above` if z >= 0, `below` if not. Both are computed: for `? :` the compiler may branch, and lanes of a warp that
/// disagree take turns.
PRIORNET_DEVICE inline float by_sign(float z, float above, float below) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(value) : "f"(above), "f"(below), "f"(z));
  return value;
#else
  return z >= 0.0f ? above : below;
#endif
}

/// 1 / x where both are normal: the instruction reads 20 bits of x and gives as many; a step of the third order
/// makes them 57.
PRIORNET_DEVICE inline double quick_inverse(double x) {
#if defined(__CUDA_ARCH__)
  double near;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(x));
#else
  const double near = off_by(0x1p-19, 1.0 / x, x);
#endif
  const double error = ::fma(-x, near, 1.0);
  return ::fma(::fma(error, error, error), near, near);
}

/// A double for float32 results: quotients, exponentials and logarithms are as exact as FloatDigits, and do not handle
/// 0 and infinity; NaN stays NaN. CUDA's own functions would take most of the time of a row.
struct QuickDouble {
  double value{};

  constexpr QuickDouble() = default;
  PRIORNET_DEVICE constexpr QuickDouble(double of) : value(of) {}

  PRIORNET_DEVICE friend QuickDouble operator+(QuickDouble a, QuickDouble b) { return a.value + b.value; }
  PRIORNET_DEVICE friend QuickDouble operator-(QuickDouble a, QuickDouble b) { return a.value - b.value; }
  PRIORNET_DEVICE friend QuickDouble operator*(QuickDouble a, QuickDouble b) { return a.value * b.value; }
  PRIORNET_DEVICE friend QuickDouble operator/(QuickDouble a, QuickDouble b) {
    return a.value * quick_inverse(b.value);
  }
  PRIORNET_DEVICE friend QuickDouble operator-(QuickDouble a) { return -a.value; }
  PRIORNET_DEVICE friend bool operator<(QuickDouble a, QuickDouble b) { return a.value < b.value; }
  PRIORNET_DEVICE friend bool operator>(QuickDouble a, QuickDouble b) { return a.value > b.value; }
  PRIORNET_DEVICE friend bool operator==(QuickDouble a, QuickDouble b) { return a.value == b.value; }
};

PRIORNET_DEVICE inline QuickDouble select(bool condition, QuickDouble a, QuickDouble b) {
  return select(condition, a.value, b.value);
}

PRIORNET_DEVICE inline double as_double(double x) { return x; }
PRIORNET_DEVICE inline double as_double(QuickDouble x) { return x.value; }

/// x times 2^n.
PRIORNET_DEVICE inline double times_power_of_two(double x, int n) {
#if defined(__CUDA_ARCH__)
  return __hiloint2double(__double2hiint(x) + (n << 20), __double2loint(x));
#else
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) + (static_cast<uint64_t>(n) << 52));
#endif
}

/// e^x for x in [-708, 709].
template <class Digits>
PRIORNET_DEVICE inline QuickDouble exp_of(QuickDouble x) {
  // Adding 1.5 * 2^52 rounds to a whole number and leaves it in the low bits; of a NaN, none that count.
  constexpr double kRound = 0x1.8p52;
  const double rounded = ::fma(x.value, 0x1.71547652b82fep0, kRound);
#if defined(__CUDA_ARCH__)
  const int n = __double2loint(rounded);
#else
  const int n = static_cast<int>(std::bit_cast<uint64_t>(rounded));
#endif
  const double r = ::fma(rounded - kRound, -0x1.62e42fefa39efp-1, x.value);
  const double value = 1.0 + (r + r * r * (r * Digits::exp()(r) + 0.5));
  return times_power_of_two(value, n);
}

/// ln x of positive, normal x.
PRIORNET_DEVICE inline QuickDouble log_of(QuickDouble x) {
#if defined(__CUDA_ARCH__)
  const int high = __double2hiint(x.value);
#else
  const int high = static_cast<int>(std::bit_cast<int64_t>(x.value) >> 32);
#endif
  const int exponent = (high - 0x3fe6a09e) >> 20;  // of a mantissa in [sqrt 1/2, sqrt 2)
  const QuickDouble mantissa = times_power_of_two(x.value, -exponent);
  const QuickDouble quotient = (mantissa - 1.0) / (mantissa + 1.0);
  const auto logarithm = static_cast<double>(exponent) * 0x1.62e42fefa39efp-1 + twice_atanh<FloatDigits>(quotient);
  return x == x ? logarithm : x;  // the bits of a NaN would be those of 2^1024
}

}  // namespace priornet
