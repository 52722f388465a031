#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "uncertainty/core/device_code.h"
#include "uncertainty/dirichlet/measure_row.h"
#include "uncertainty/dirichlet/quick_double.h"

// Float32 arithmetic for a GPU.
//
// A second way beside measure_row.h, because it is faster: on an H200, rows of float32 logits per second are 2.3, 5.2
// and 3.8 times those of float64 logits for 10, 100 and 1000 classes (docs/results.md, "All measures"). If a network
// makes the logits, the gain does not show: the network takes thousands of times as long as the measures.

namespace priornet {

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

/// With errors of at most 3e-8, relative, for psi and 1.2e-7, absolute, for F: below a = 1 in v = a / (a + kShift),
/// which keeps the poles at -1, -2, ... away, and from there on in u = 1 / a. F(a) = ln Gamma(a) - (a - 1) psi(a) + a -
/// ln(2 pi) / 2 is the term of a class in the differential entropy.
struct SingleDigits {
  static constexpr float kShift = 1.75f;

  /// (psi(a + 1) + Euler's constant) / a
  PRIORNET_DEVICE static consteval SinglePolynomial<7> psi_below() {
    return {{1.644934047f, -2.103594427f, 1.210794886f, -1.028060432f, 0.6814839695f, -0.4528746193f, 0.1303286014f}};
  }
  /// F(a) + ln a + 1 / a
  PRIORNET_DEVICE static consteval SinglePolynomial<7> entropy_below() {
    return {{-0.4961540773f, 4.628603048f, -1.57012564f, 2.302483017f, -0.8635241309f, 0.7506904857f, 0.5708298252f}};
  }
  /// a (psi(a + 1) - ln a)
  PRIORNET_DEVICE static consteval SinglePolynomial<8> psi_above() {
    return {{0.4999999902f, -0.0833320916f, -2.408185289e-5f, 0.008492196792f, -0.0003662574143f, -0.004277221488f,
             0.00300761516f, -0.0007158263561f}};
  }
  /// a (F(a) - (ln a + 1) / 2)
  PRIORNET_DEVICE static consteval SinglePolynomial<7> entropy_above() {
    return {{-0.3333341463f, -0.0832951837f, -0.011508675f, 0.009983912077f, 0.001951568868f, -0.003913588094f,
             0.001177619568f}};
  }
};

// All measures of one row of float32 logits, the classes in float32 and their totals in float64, to 1e-6 of the exact
// value: docs/math.md, section 2, says why that is enough from K = 8 on. The class of the largest logit is left out of
// the float32 sums, so that the sums of the others keep their digits.

constexpr double kEuler = 0.57721566490153286061;
/// Logits beyond it, either way, are for measure_row in float64.
constexpr float kSingleLogit = 64.0f;
constexpr int64_t kSingleFewestClasses = 8;

/// Sums over some classes of a row, t = z - top; all but the last leave out the class of the largest logit.
template <class Real>
struct SingleSums {
  Real alpha{};           ///< of alpha
  Real squares{};         ///< of e^(2 t)
  Real alpha_t{};         ///< of alpha t
  Real alpha_psi{};       ///< of alpha (psi(alpha + 1) - max(z, 0)), with Euler's constant added where top < 0
  Real alpha_negative{};  ///< of alpha min(z, 0)
  Real alpha_positive{};  ///< of alpha max(z, 0)
  Real entropy{};         ///< of the terms of the differential entropy

  /// Adds a chunk of float32 sums.
  PRIORNET_DEVICE void add(const SingleSums<float>& chunk) {
    alpha += static_cast<Real>(chunk.alpha);
    squares += static_cast<Real>(chunk.squares);
    alpha_t += static_cast<Real>(chunk.alpha_t);
    alpha_psi += static_cast<Real>(chunk.alpha_psi);
    alpha_negative += static_cast<Real>(chunk.alpha_negative);
    alpha_positive += static_cast<Real>(chunk.alpha_positive);
    entropy += static_cast<Real>(chunk.entropy);
  }

  /// Adds the sums over other classes of the same row; `other_of(x)` gives their x.
  template <class OtherOf>
  PRIORNET_DEVICE void merge(const OtherOf& other_of) {
    alpha += other_of(alpha);
    squares += other_of(squares);
    alpha_t += other_of(alpha_t);
    alpha_psi += other_of(alpha_psi);
    alpha_negative += other_of(alpha_negative);
    alpha_positive += other_of(alpha_positive);
    entropy += other_of(entropy);
  }
};

/// Adds a class of logit z to sums.
PRIORNET_DEVICE inline void add_single(SingleSums<float>& sums, float z, float top, bool is_top) {
  const float alpha = single_exp(::fmaxf(z, -80.0f));  // a lower one shows in the sum of inverses
  const float inverse = approximate_inverse(alpha);
  const bool below = z < 0.0f;
  const float v = alpha * approximate_inverse(alpha + SingleDigits::kShift);
  // If all are below 1, the expected entropy is made of psi(alpha + 1) without its constant.
  const float constant = top < 0.0f ? 0.0f : static_cast<float>(kEuler);
  const float psi_below = ::fmaf(alpha, SingleDigits::psi_below()(v), -constant);
  const float psi_above = inverse * SingleDigits::psi_above()(inverse);
  const float entropy_below = SingleDigits::entropy_below()(v) - z - inverse;
  const float entropy_above = ::fmaf(0.5f, z, ::fmaf(inverse, SingleDigits::entropy_above()(inverse), 0.5f));
  const float weight = is_top ? 0.0f : alpha;
  const float relative = weight * single_exp(::fminf(-top, 80.0f));
  sums.alpha += weight;
  sums.squares = ::fmaf(relative, relative, sums.squares);
  sums.alpha_t = ::fmaf(weight, z - top, sums.alpha_t);
  sums.alpha_psi = ::fmaf(weight, below ? psi_below : psi_above, sums.alpha_psi);
  sums.alpha_negative = ::fmaf(weight, ::fminf(z, 0.0f), sums.alpha_negative);
  sums.alpha_positive = ::fmaf(weight, ::fmaxf(z, 0.0f), sums.alpha_positive);
  sums.entropy += below ? entropy_below : entropy_above;
}

/// A few classes at a time: with many, the sum itself would lose digits in float32.
constexpr int kSingleChunk = 8;

/// Whether float32 was enough for the row; not if a logit was too large, too small or NaN.
PRIORNET_DEVICE inline bool is_single_enough(const SingleSums<double>& sums, float top) {
  constexpr double kLargest = 6.2e27;  // e^64: a class of logit z below -64 adds -e^-z
  return top <= kSingleLogit && sums.entropy < kLargest && sums.entropy > -kLargest;
}

/// The measures of a row for which is_single_enough: float32 holds them all.
PRIORNET_DEVICE inline RowMeasures<QuickDouble> measures_of(const SingleSums<double>& single, int64_t classes,
                                                            float top, int64_t top_index) {
  using Real = QuickDouble;
  const Real z = static_cast<double>(top);
  const Real alpha = exp_of<FloatDigits>(z);
  const Real inverse = 1.0 / alpha;
  const Real positive = larger(z, Real{});
  const auto pieces = gamma_pieces<FloatDigits>(alpha, z);
  MeasureSums<Real> sums;
  sums.scale = alpha;
  sums.exp = 1.0 + single.alpha * inverse;
  // 1 beside the rest: rest + (rest^2 - squares) / 2, and squares <= rest.
  const Real rest = single.alpha * inverse;
  sums.pairs = rest + 0.5 * (rest * rest - single.squares);
  sums.exp_t = single.alpha_t * inverse;
  const Real constant = top < 0.0f ? kEuler * single.alpha : 0.0;
  sums.exp_psi = (single.alpha_psi - constant) * inverse + pieces.psi_next(positive);
  sums.exp_negative = positive - z - single.alpha_negative * inverse;
  sums.exp_positive = positive + single.alpha_positive * inverse;
  sums.entropy = single.entropy;
  return measures_of<FloatDigits, false>(sums, classes, RowExtent<Real>{z, static_cast<double>(top_index), z});
}

}  // namespace priornet
