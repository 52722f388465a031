#pragma once

#include <cstdint>

#include "uncertainty/dirichlet/instruction_set.h"

// The inner loops of an antialiased resize, on raw pointers. A plane is a matrix of bytes whose rows lie `stride`
// apart. Filtering goes down the columns, so that neighbouring bytes are neighbouring lanes; for the other axis the
// plane is transposed before and after.

namespace priornet {

/// Columns are filtered in blocks of this many; rows to be filtered have room for whole blocks.
constexpr int64_t kFilterBlock = 32;

/// out[y] = the weighted sum of in[first[y]], in[first[y] + 1], ..., rounded and kept within 0..255.
struct ColumnFilter {
  const uint8_t* in;
  int64_t in_stride;  ///< a multiple of kFilterBlock
  int64_t in_rows;
  int32_t* wide;  ///< room for in_rows * in_stride numbers
  uint8_t* out;
  int64_t out_stride;
  int64_t out_rows;
  int64_t columns;
};

/// FilterWeights as pointers: what each of out_rows is made of.
struct RowWeights {
  int64_t taps;
  const int64_t* first;
  const int64_t* count;
  const int32_t* weight;
  int fraction_bits;
};
/// out[x][y] = in[y][x].
struct Transposition {
  const uint8_t* in;
  int64_t in_stride;
  uint8_t* out;
  int64_t out_stride;
  int64_t rows;  ///< of `in`
  int64_t columns;
};

/// One of these is built for every number of lanes: resize_filter_lanes.cpp, compiled once per instruction set.
template <int kLanes>
void filter_columns_in_lanes(const ColumnFilter& work, const RowWeights& weights);
template <int kLanes>
void transpose_in_lanes(const Transposition& work);

inline void filter_columns(const ColumnFilter& work, const RowWeights& weights, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { filter_columns_in_lanes<kLanes>(work, weights); });
}
inline void transpose(const Transposition& work, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { transpose_in_lanes<kLanes>(work); });
}

}  // namespace priornet
