#pragma once

#include <cfloat>

#include <priornet/dirichlet/lanes.h>

namespace priornet {

/// One row of a contiguous matrix, read as doubles.
template <class T>
struct ScalarRow {
  const T* values;

  PRIORNET_DEVICE double operator()(int64_t c) const { return static_cast<double>(values[c]); }
};

/// As T, with values beyond its range as its largest finite number.
template <class T>
PRIORNET_DEVICE inline T saturate(double value) {
  constexpr double kLargest = sizeof(T) == sizeof(float) ? FLT_MAX : DBL_MAX;
  return static_cast<T>(value > kLargest ? kLargest : (value < -kLargest ? -kLargest : value));
}

}  // namespace priornet
