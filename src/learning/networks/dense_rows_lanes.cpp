// Built once for each instruction set. It includes nothing that other files share as inline code: the linker might keep
// the copy made for instructions that this CPU does not have.
#include "learning/networks/dense_rows.h"
#include "uncertainty/dirichlet/lanes.h"

namespace priornet {
namespace {

constexpr int kWidth = 2 * PRIORNET_LANES;  // floats in a vector
constexpr int kSums = 4;                    // side by side: one addition takes longer than the next one should wait
using Floats = Lanes<kWidth, float>;

Floats at(const float* values) {
  Floats some;
  __builtin_memcpy(&some, values, sizeof some);
  return some;
}

/// Of all lanes, in halves: one after another, each addition would wait for the last.
template <int kCount>
float sum_of(Lanes<kCount, float> values) {
  if constexpr (kCount == 1) {
    return values[0];
  } else {
    Lanes<kCount / 2, float> halves[2];
    __builtin_memcpy(halves, &values, sizeof halves);
    return sum_of<kCount / 2>(halves[0] + halves[1]);
  }
}

float product(const float* a, const float* b, int64_t size) {
  Floats sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * kWidth <= size; i += kSums * kWidth) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) sums[s] += at(a + i + s * kWidth) * at(b + i + s * kWidth);
  }
  for (; i + kWidth <= size; i += kWidth) sums[0] += at(a + i) * at(b + i);
  float total = sum_of<kWidth>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < size; ++i) total += a[i] * b[i];
  return total;
}

}  // namespace

template <>
void dense_rows_in_lanes<PRIORNET_LANES>(const DenseRows& work) {
  for (int64_t o = 0; o < work.outputs; ++o) {
    const float* weight = work.weight + o * work.inputs;
    for (int64_t n = 0; n < work.rows; ++n)
      work.out[n * work.out_stride + o] = work.bias[o] + product(weight, work.in + n * work.inputs, work.inputs);
  }
}

}  // namespace priornet
