#pragma once

#include <cstdint>

#include "learning/training/optimiser_rules.h"

// One step of an optimiser over flat parameters: the norm of the gradient in a first pass, then clipping and the rule
// in a second, on a CPU and on a GPU. Deterministic: sums are formed in the same order every time, and on a CPU
// whatever the number of threads.

namespace priornet {

template <class T>
struct FlatUpdate {
  T* values;  ///< all arrays have `size` elements, a multiple of 64, and begin at multiples of 64 bytes
  const T* gradients;
  T* moments[2];  ///< the second is null where the rule has none
  int64_t size;
  double clip;          ///< 0: none
  const double* table;  ///< [rows, coefficients of the rule]; later steps repeat the last row
  int64_t rows;
  int64_t* counter;  ///< the row of this step, then moved to the next
  double* norm;      ///< of the gradient before it was clipped
  double* partials;  ///< room for kNormParts numbers, on a GPU
  int64_t* current;  ///< room for one, on a GPU
};

constexpr int kNormParts = 1024;

/// The factor that clips a gradient. NaN stays NaN.
PRIORNET_DEVICE inline double clip_factor(double norm, double clip) {
  const double factor = clip > 0.0 ? clip / (norm + 1e-6) : 1.0;
  return factor > 1.0 ? 1.0 : factor;
}

template <class T>
PRIORNET_DEVICE const double* row_of(const FlatUpdate<T>& update, int64_t step, int coefficients) {
  return update.table + (step < update.rows ? step : update.rows - 1) * coefficients;
}

/// In two launches; T: float or double, `stream` a cudaStream_t. On a CPU optimiser.cpp does the same.
template <class T>
void launch_update(const FlatUpdate<T>& update, const RuleChoice& choice, void* stream);

}  // namespace priornet
