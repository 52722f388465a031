// Built once for each instruction set. It includes nothing that other files share as inline code: the linker might keep
// the copy made for instructions that this CPU does not have.
#include "learning/transforms/resize_filter.h"

namespace priornet {
namespace {

constexpr int kSide = 16;
using Bytes = uint8_t __attribute__((vector_size(kSide)));

// Interleaves pairs of rows eight apart; after four rounds rows and columns have changed places.
void transpose_square(const uint8_t* in, int64_t in_stride, uint8_t* out, int64_t out_stride) {
  Bytes rows[kSide];
  Bytes woven[kSide];
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(&rows[i], in + i * in_stride, sizeof rows[i]);
  const auto weave = [](const Bytes* from, Bytes* to) {
    for (int i = 0; i < kSide / 2; ++i) {
      to[2 * i] = __builtin_shufflevector(from[i], from[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      to[2 * i + 1] =
          __builtin_shufflevector(from[i], from[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
  };
  weave(rows, woven);
  weave(woven, rows);
  weave(rows, woven);
  weave(woven, rows);
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(out + i * out_stride, &rows[i], sizeof rows[i]);
}

constexpr int kWidth = 2 * PRIORNET_LANES;  // 32-bit sums in a vector
constexpr int kVectors = kFilterBlock / kWidth;
using Sums = int32_t __attribute__((vector_size(4 * kWidth)));

void filter_block(const ColumnFilter& work, const RowWeights& weights, int64_t y, int64_t column, uint8_t* out) {
  const int32_t* in = work.wide + weights.first[y] * work.in_stride + column;
  const int32_t* weight = weights.weight + y * weights.taps;
  Sums sums[kVectors];
  for (auto& sum : sums) sum = Sums{} + (1 << (weights.fraction_bits - 1));
  for (int64_t tap = 0; tap < weights.count[y]; ++tap, in += work.in_stride) {
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i) {
      Sums pixels;
      __builtin_memcpy(&pixels, in + i * kWidth, sizeof pixels);
      sums[i] += weight[tap] * pixels;
    }
  }
  int32_t values[kFilterBlock];
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    const Sums shifted = sums[i] >> weights.fraction_bits;
    __builtin_memcpy(values + i * kWidth, &shifted, sizeof shifted);
  }
  for (int i = 0; i < kFilterBlock; ++i) {
    const int32_t value = values[i] < 0 ? 0 : values[i];
    out[i] = static_cast<uint8_t>(value > 255 ? 255 : value);
  }
}

}  // namespace

template <int kLanes>
void filter_columns_in_lanes(const ColumnFilter& work, const RowWeights& weights) {
  // A byte is widened once, not once for every row it goes into.
  for (int64_t i = 0; i < work.in_rows * work.in_stride; ++i) work.wide[i] = work.in[i];
  for (int64_t y = 0; y < work.out_rows; ++y) {
    uint8_t* out = work.out + y * work.out_stride;
    int64_t column = 0;
    for (; column + kFilterBlock <= work.columns; column += kFilterBlock)
      filter_block(work, weights, y, column, out + column);
    if (column == work.columns) continue;
    uint8_t rest[kFilterBlock];
    filter_block(work, weights, y, column, rest);
    for (int64_t i = 0; column + i < work.columns; ++i) out[column + i] = rest[i];
  }
}

template <int kLanes>
void transpose_in_lanes(const Transposition& work) {
  const int64_t whole_rows = work.rows / kSide * kSide;
  const int64_t whole_columns = work.columns / kSide * kSide;
  for (int64_t y = 0; y < whole_rows; y += kSide)
    for (int64_t x = 0; x < whole_columns; x += kSide)
      transpose_square(work.in + y * work.in_stride + x, work.in_stride, work.out + x * work.out_stride + y,
                       work.out_stride);
  for (int64_t y = 0; y < work.rows; ++y)
    for (int64_t x = y < whole_rows ? whole_columns : 0; x < work.columns; ++x)
      work.out[x * work.out_stride + y] = work.in[y * work.in_stride + x];
}

template void filter_columns_in_lanes<PRIORNET_LANES>(const ColumnFilter&, const RowWeights&);
template void transpose_in_lanes<PRIORNET_LANES>(const Transposition&);

}  // namespace priornet
