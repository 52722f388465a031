#pragma once

#include <priornet/dirichlet/single_measure_row.h>

namespace priornet {

/// What a lane reads of a row: four classes at a time where memory is aligned for it.
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
      add_chunk(sums, chunk);
    }
    return sums;
  }
};

}  // namespace priornet
