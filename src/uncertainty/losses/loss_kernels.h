#pragma once

#include "uncertainty/dirichlet/instruction_set.h"
#include "uncertainty/losses/loss_row.h"

// The fused kernels behind losses.h, on raw pointers: rows are contiguous, [rows, classes].

namespace priornet {

template <class T>
struct LossRows {
  const T* logits;
  int64_t rows;
  int64_t classes;
  RowDivergence divergence;
  const int64_t* labels;       ///< [rows], or null where the rows have none
  const T* probabilities;      ///< of a teacher, [rows, classes], or null
  LabelTarget<double> target;  ///< unless there is a teacher; its label is not used
  double alpha0;               ///< of the teacher's target
  RowWeights weights;          ///< of the two parts in the gradient
  T* divergences;              ///< [rows], or null
  T* cross_entropies;          ///< [rows], or null
  T* gradient;                 ///< [rows, classes], or null
};

/// One of these is built for every number of lanes: loss_kernels_lanes.cpp, compiled once per instruction set.
template <int kLanes, class T>
void loss_rows_in_lanes(const LossRows<T>& work, int64_t begin, int64_t end);

/// Rows [begin, end) on the CPU, with the given instructions.
template <class T>
void loss_rows(const LossRows<T>& work, int64_t begin, int64_t end, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { loss_rows_in_lanes<kLanes>(work, begin, end); });
}

}  // namespace priornet
