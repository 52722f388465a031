#pragma once

#include <cfloat>

#include "uncertainty/dirichlet/gamma.h"
#include "uncertainty/dirichlet/lanes.h"

// What every pass over a row of logits begins with: its extent, and exponentials that stay in range.

namespace priornet {

/// Rows with a logit beyond it, in either direction, are wide: they take a path of their own, where nothing leaves the
/// range of a double.
constexpr double kWideLogit = 100.0;
/// Where e^z is clamped: everything that depends on it has reached its limit long before.
constexpr double kLargestLogit = 600.0;

template <class Real>
PRIORNET_DEVICE inline Real clamp_logit(Real z, double largest = kLargestLogit) {
  const Real bound = Real{} + largest;
  return z > bound ? bound : (z < -bound ? -bound : z);
}

/// The largest logit of a row, where it is, and the smallest.
template <class Real>
struct RowExtent {
  Real top, top_index, bottom;
};

/// `load(c)` is the logit of class c. Over all classes, or over class 0 and first, first + step, ...
template <class Real, class Load>
PRIORNET_DEVICE inline RowExtent<Real> row_extent(const Load& load, int64_t classes, int64_t first = 1,
                                                  int64_t step = 1) {
  const Real zeroth = load(0);
  RowExtent<Real> extent{zeroth, Real{}, zeroth};
  for (int64_t c = first; c < classes; c += step) {
    const Real z = load(c);
    extent.top_index = z > extent.top ? Real{} + static_cast<double>(c) : extent.top_index;
    extent.top = larger(z, extent.top);
    extent.bottom = smaller(z, extent.bottom);
  }
  return extent;
}

/// e^(z - top) and e^z, sharing the exponential unless the row is wide.
template <class Digits, bool kWide, class Real>
struct RowExponentials {
  Real top, scale;

  PRIORNET_DEVICE explicit RowExponentials(Real row_top) : top(row_top), scale(exp_of<Digits>(clamp_logit(row_top))) {}

  PRIORNET_DEVICE Real relative(Real t) const { return exp_of<Digits>(kWide ? clamp_logit(t) : t); }
  PRIORNET_DEVICE Real alpha(Real z, Real exp_t) const {
    return kWide ? exp_of<Digits>(clamp_logit(z)) : exp_t * scale;
  }
};

/// The logarithm of a product of many factors in [1, 6e4]; it is taken only when the product would grow too large.
template <class Real>
class LogProduct {
 public:
  /// `count`: of how many factors it is the product, which divides 60.
  PRIORNET_DEVICE void multiply(Real factor, int count = 1) {
    product_ = product_ * factor;
    if ((factors_ += count) >= 60) {
      logarithm_ = logarithm_ + log_of(product_);
      product_ = Real{} + 1.0;
      factors_ = 0;
    }
  }
  PRIORNET_DEVICE Real logarithm_over(Real divisor) const { return logarithm_ + log_of(product_ / divisor); }
  PRIORNET_DEVICE Real logarithm() const { return factors_ == 0 ? logarithm_ : logarithm_ + log_of(product_); }

  /// The product whose logarithm is given.
  PRIORNET_DEVICE static LogProduct of_logarithm(Real logarithm) {
    LogProduct product;
    product.logarithm_ = logarithm;
    return product;
  }

 private:
  Real product_ = Real{} + 1.0;
  Real logarithm_{};
  int factors_ = 0;
};

template <class Real>
PRIORNET_DEVICE inline bool is_wide(const RowExtent<Real>& extent) {
  return any_of(extent.top > kWideLogit, extent.bottom < -kWideLogit);
}

/// One row of a contiguous matrix that nobody writes to meanwhile, read as doubles.
template <class T>
struct ScalarRow {
  const T* values;

  PRIORNET_DEVICE T at(int64_t c) const {
#if defined(__CUDA_ARCH__)
    return __ldg(values + c);
#else
    return values[c];
#endif
  }
  PRIORNET_DEVICE double operator()(int64_t c) const { return static_cast<double>(at(c)); }
};

/// As T, with values beyond its range as its largest finite number.
template <class T>
PRIORNET_DEVICE inline T saturate(double value) {
  constexpr double kLargest = sizeof(T) == sizeof(float) ? FLT_MAX : DBL_MAX;
  return static_cast<T>(value > kLargest ? kLargest : (value < -kLargest ? -kLargest : value));
}

}  // namespace priornet
