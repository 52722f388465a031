#pragma once

#include "uncertainty/dirichlet/logit_row.h"
#include "uncertainty/dirichlet/single_measure_row.h"

// Combines the results of the lanes that share a row: kLanes neighbouring lanes of a warp, a power of two. All lanes of
// the warp call these together.

namespace priornet {

constexpr unsigned kWholeWarp = 0xffffffffu;

/// The sum over the group, the same to the last bit in every lane.
template <int kLanes>
__device__ inline double group_sum(double value) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kWholeWarp, value, offset);
  return value;
}

/// The sums of all lanes of the group merged, the same to the last bit in every lane.
template <int kLanes, class Sums>
__device__ inline Sums merged(Sums sums) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    sums.merge([offset](double value) { return __shfl_xor_sync(kWholeWarp, value, offset); });
  return sums;
}

/// The extent of a row; each lane has seen class 0 and its share.
template <int kLanes>
__device__ inline RowExtent<double> group_extent(RowExtent<double> extent) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    const double top = __shfl_xor_sync(kWholeWarp, extent.top, offset);
    const double index = __shfl_xor_sync(kWholeWarp, extent.top_index, offset);
    const double bottom = __shfl_xor_sync(kWholeWarp, extent.bottom, offset);
    if (top > extent.top || (top == extent.top && index < extent.top_index)) extent.top_index = index;
    extent.top = larger(top, extent.top);
    extent.bottom = smaller(bottom, extent.bottom);
  }
  return extent;
}

/// The largest value of the group and the lowest index that has it, from one value and index per lane.
template <int kLanes>
__device__ inline void group_largest(float& value, int& index) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned members = kLanes == 32 ? kWholeWarp : ((1u << kLanes) - 1u) << (lane / kLanes * kLanes);
  // Whole numbers in the order of the floats, for which there is an instruction. Adding 0 turns -0 into 0.
  const unsigned bits = __float_as_uint(value + 0.0f);
  const unsigned key = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  const unsigned largest = __reduce_max_sync(members, key);
  index = static_cast<int>(__reduce_min_sync(members, key == largest ? static_cast<unsigned>(index) : 0xffffffffu));
  value = __uint_as_float((largest & 0x80000000u) != 0 ? largest & 0x7fffffffu : ~largest);
}

/// How a lane reads a row: four classes at a time if memory is aligned for it.
template <int kLanes, bool kQuads>
struct LaneShare {
  static constexpr int kWidth = kQuads ? 4 : 1;
  const float* row;
  int classes, lane;

  struct Values {
    float at[kWidth];
  };

  __device__ Values read(int c) const {
    if constexpr (kQuads) {
      const float4 quad = __ldg(reinterpret_cast<const float4*>(row + c));
      return {{quad.x, quad.y, quad.z, quad.w}};
    } else {
      return {{__ldg(row + c)}};
    }
  }

  __device__ void write(float* to, int c, const Values& values) const {
    if constexpr (kQuads)
      *reinterpret_cast<float4*>(to + c) = {values.at[0], values.at[1], values.at[2], values.at[3]};
    else
      to[c] = values.at[0];
  }

  /// The largest of the lane's logits, and where it is first.
  __device__ void find_top(float& top, int& top_index) const {
    top = -INFINITY;
    top_index = 0;
#pragma unroll 4
    for (int c = lane * kWidth; c < classes; c += kLanes * kWidth) {
      const Values values = read(c);
      float largest = values.at[0];
#pragma unroll
      for (int i = 1; i < kWidth; ++i) largest = fmaxf(largest, values.at[i]);
      top_index = largest > top ? c : top_index;
      top = fmaxf(top, largest);
    }
    const Values values = read(top_index);
    int within = 0;
#pragma unroll
    for (int i = kWidth - 1; i > 0; --i) within = values.at[i] == top ? i : within;
    top_index += values.at[0] == top ? 0 : within;
  }

  __device__ SingleSums<double> sums(float top, int top_index) const {
    constexpr int kReads = kSingleChunk / kWidth;
    SingleSums<double> sums;
    for (int begin = lane * kWidth; begin < classes; begin += kReads * kLanes * kWidth) {
      SingleSums<float> chunk;
#pragma unroll 2
      for (int k = 0; k < kReads; ++k) {
        const int c = begin + k * kLanes * kWidth;
        if (c >= classes) break;
        const Values values = read(c);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) add_single(chunk, values.at[i], top, c + i == top_index);
      }
      sums.add(chunk);
    }
    return sums;
  }
};

}  // namespace priornet
