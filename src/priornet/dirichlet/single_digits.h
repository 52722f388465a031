#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <priornet/core/device_code.h>

// Float32 arithmetic for a GPU: polynomials, and the one instruction of it that is not exact. On a CPU that is modelled
// by the correct value made as wrong as a GPU's may be, so that tests see the worst.

namespace priornet {

#if !defined(__CUDA_ARCH__)
/// `value` off by the given share, up or down as the bits of `x` have it.
inline float off_by(float share, double value, float x) {
  const bool up = (((std::bit_cast<uint32_t>(x) * 2654435761u) >> 16) & 1u) != 0;
  return static_cast<float>(value * (1.0 + (up ? share : -share)));
}
#endif

/// 1 / x for |x| in [2^-126, 2^126], with a relative error of 2^-23.
PRIORNET_DEVICE inline float approximate_inverse(float x) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
#else
  return off_by(0x1p-23f, 1.0 / static_cast<double>(x), x);
#endif
}

/// A polynomial in float32 by its coefficients, the constant first.
template <int kSize>
struct SinglePolynomial {
  float coefficients[kSize];

  PRIORNET_DEVICE constexpr float operator()(float x) const {
    float value = coefficients[kSize - 1];
    for (int i = kSize - 2; i >= 0; --i) value = ::fmaf(value, x, coefficients[i]);
    return value;
  }
};

/// e^z to 1e-7 for z in [-80, 80]. The instruction for 2^x is off by twice that.
PRIORNET_DEVICE inline float single_exp(float z) {
  constexpr SinglePolynomial<5> kTail{{0.5f, 0.1666657699f, 0.04166655462f, 0.008363179053f, 0.001392618359f}};
  // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
  constexpr float kRound = 0x1.8p23f;
  const float rounded = ::fmaf(z, 0x1.715476p0f, kRound);
  const float n = rounded - kRound;
  const float r = ::fmaf(n, 0x1.05c61p-29f, ::fmaf(n, -0x1.62e43p-1f, z));  // ln 2 in two parts
  const float value = ::fmaf(r * r, kTail(r), r) + 1.0f;
#if defined(__CUDA_ARCH__)
  return __int_as_float(__float_as_int(value) + (__float_as_int(rounded) << 23));
#else
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) + (std::bit_cast<uint32_t>(rounded) << 23));
#endif
}

/// Interpolations at Chebyshev nodes with errors of at most 4e-8: below a = 1 in v = a / (a + 2), which keeps the poles
/// at -1, -2, ... away, and from there on in u = 1 / a. F(a) = ln Gamma(a) - (a - 1) psi(a) + a - ln(2 pi) / 2 is the
/// term of a class in the differential entropy.
struct SingleDigits {
  /// (psi(a + 1) + Euler's constant) / a
  PRIORNET_DEVICE static consteval SinglePolynomial<7> psi_below() {
    return {{1.644934026f, -2.404101792f, 1.924592996f, -2.030051374f, 1.876008726f, -1.532461241f, 0.6725129291f}};
  }
  /// F(a) + ln a + 1 / a
  PRIORNET_DEVICE static consteval SinglePolynomial<8> entropy_below() {
    return {{-0.4961541961f, 5.289867338f, -2.80817473f, 4.161834566f, -3.355415996f, 3.950250087f, -2.867615069f,
             1.982049568f}};
  }
  /// a (psi(a + 1) - ln a)
  PRIORNET_DEVICE static consteval SinglePolynomial<8> psi_above() {
    return {{0.4999999902f, -0.0833320916f, -2.408185289e-5f, 0.008492196792f, -0.0003662574143f, -0.004277221488f,
             0.00300761516f, -0.0007158263561f}};
  }
  /// a (F(a) - (ln a + 1) / 2)
  PRIORNET_DEVICE static consteval SinglePolynomial<8> entropy_above() {
    return {{-0.3333333216f, -0.08333487874f, -0.01107353577f, 0.007952038167f, 0.006795473902f, -0.01010397321f,
             0.005216390408f, -0.001056735244f}};
  }
};

}  // namespace priornet
