#pragma once

#include <cstdint>

#include "uncertainty/dirichlet/instruction_set.h"
#include "uncertainty/dirichlet/measure_row.h"

// The fused kernels behind measures.h, on raw pointers: rows are contiguous, [rows, classes].

namespace priornet {

template <class T>
struct MeasureRows {
  const T* logits;
  int64_t rows;
  int64_t classes;
  int64_t* prediction;
  T* measures[kDirichletMeasures];
};

/// Reads how much each measure weighs, [rows] each, and writes the gradient, [rows, classes].
template <class T>
struct MeasureGradientRows {
  const T* logits;
  int64_t rows;
  int64_t classes;
  const T* weights[kDirichletMeasures];
  T* gradient;
};

/// Rows [begin, end) on the CPU, with the given instructions.
template <class T>
void measure_rows(const MeasureRows<T>& work, int64_t begin, int64_t end, InstructionSet instructions);
template <class T>
void measure_gradient_rows(const MeasureGradientRows<T>& work, int64_t begin, int64_t end, InstructionSet instructions);

/// One of these is built for every number of lanes.
template <int kLanes, class T>
void measure_rows_in_lanes(const MeasureRows<T>& work, int64_t begin, int64_t end);
template <int kLanes, class T>
void measure_gradient_rows_in_lanes(const MeasureGradientRows<T>& work, int64_t begin, int64_t end);

}  // namespace priornet
