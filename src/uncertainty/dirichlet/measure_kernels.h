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

/// Reads the weight of each measure, [rows] each, and writes the gradient, [rows, classes].
template <class T>
struct MeasureGradientRows {
  const T* logits;
  int64_t rows;
  int64_t classes;
  const T* weights[kDirichletMeasures];
  T* gradient;
};

/// One of these is built for every number of lanes: measure_kernels_lanes.cpp, compiled once per instruction set.
template <int kLanes, class T>
void measure_rows_in_lanes(const MeasureRows<T>& work, int64_t begin, int64_t end);
template <int kLanes, class T>
void measure_gradient_rows_in_lanes(const MeasureGradientRows<T>& work, int64_t begin, int64_t end);

/// Rows [begin, end) on the CPU, with the given instructions.
template <class T>
void measure_rows(const MeasureRows<T>& work, int64_t begin, int64_t end, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { measure_rows_in_lanes<kLanes>(work, begin, end); });
}
template <class T>
void measure_gradient_rows(const MeasureGradientRows<T>& work, int64_t begin, int64_t end,
                           InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { measure_gradient_rows_in_lanes<kLanes>(work, begin, end); });
}

}  // namespace priornet
