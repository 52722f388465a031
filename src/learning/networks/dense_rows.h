#pragma once

#include <cstdint>

#include "uncertainty/dirichlet/instruction_set.h"

namespace priornet {

/// A dense layer for few rows: out[n][o] = bias[o] + sum over i of weight[o][i] in[n][i]. Each weight is read once,
/// where it lies; a product of matrices first copies the weights into another order, which takes longer than the
/// product itself.
struct DenseRows {
  const float* in;      ///< [rows, inputs]
  const float* weight;  ///< [outputs, inputs]
  const float* bias;    ///< [outputs]
  float* out;           ///< [rows, out_stride]; the first `outputs` of each row are written
  int64_t out_stride;
  int64_t rows;
  int64_t inputs;
  int64_t outputs;
};

/// Up to this many rows count as few. 1,568 x 100 weights (bench/inference_beside_onnx.py's smallest VGG-6), one thread
/// of a Xeon with AVX-512: 13 us for one row, 41 for four; Debian's OpenBLAS takes 53 and 59, and for eight rows it is
/// faster (77, not 101).
constexpr int64_t kFewRows = 4;

/// One of these is built for every number of lanes: dense_rows_lanes.cpp, compiled once per instruction set.
template <int kLanes>
void dense_rows_in_lanes(const DenseRows& work);

inline void dense_rows(const DenseRows& work, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { dense_rows_in_lanes<kLanes>(work); });
}

}  // namespace priornet
