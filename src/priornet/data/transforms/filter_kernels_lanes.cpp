// Built once for each instruction set. It includes nothing that other files share as inline code: the linker might keep
// the copy made for a CPU that is not there.
#include <priornet/data/transforms/filter_kernels.h>

namespace priornet {
namespace {

constexpr int kSide = 16;
using Bytes = uint8_t __attribute__((vector_size(kSide), aligned(1), may_alias));

// Pairs of rows eight apart are woven together; after four rounds row and column have changed places.
void transpose_square(const uint8_t* in, int64_t in_stride, uint8_t* out, int64_t out_stride) {
  Bytes rows[kSide];
  Bytes woven[kSide];
  for (int i = 0; i < kSide; ++i) rows[i] = *reinterpret_cast<const Bytes*>(in + i * in_stride);
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
  for (int i = 0; i < kSide; ++i) *reinterpret_cast<Bytes*>(out + i * out_stride) = rows[i];
}

// `width` is a constant where it counts, so that the sums stay in registers.
inline __attribute__((always_inline)) void filter_block(const ColumnFilter& work, int64_t y, int64_t column,
                                                        int64_t width) {
  const uint8_t* in = work.in + work.first[y] * work.in_stride + column;
  const int32_t* weight = work.weight + y * work.taps;
  int32_t sum[kFilterBlock];
  for (int64_t i = 0; i < kFilterBlock; ++i) sum[i] = 1 << (work.fraction_bits - 1);
  for (int64_t tap = 0; tap < work.count[y]; ++tap, in += work.in_stride)
    for (int64_t i = 0; i < kFilterBlock; ++i) sum[i] += weight[tap] * in[i];
  uint8_t* out = work.out + y * work.out_stride + column;
  for (int64_t i = 0; i < width; ++i) {
    const int32_t value = sum[i] >> work.fraction_bits;
    out[i] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

}  // namespace

template <int kLanes>
void filter_columns_in_lanes(const ColumnFilter& work) {
  for (int64_t y = 0; y < work.out_rows; ++y) {
    int64_t column = 0;
    for (; column + kFilterBlock <= work.columns; column += kFilterBlock) filter_block(work, y, column, kFilterBlock);
    if (column < work.columns) filter_block(work, y, column, work.columns - column);
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

template void filter_columns_in_lanes<PRIORNET_LANES>(const ColumnFilter&);
template void transpose_in_lanes<PRIORNET_LANES>(const Transposition&);

}  // namespace priornet
