#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "uncertainty/core/rows.cuh"

// Eight neighbouring channels at a time, and sums of channels over rows. For the kernels beside it.

namespace priornet::kernels {

constexpr int kThreads = 256;
constexpr int kWidth = 8;

/// Eight values as they lie in memory.
template <class T>
struct Packed;
template <>
struct Packed<float> {
  float4 low, high;
};
template <>
struct Packed<uint16_t> {
  uint4 pairs;
};

__device__ inline Packed<float> fetch(const float* from) {
  return {reinterpret_cast<const float4*>(from)[0], reinterpret_cast<const float4*>(from)[1]};
}

__device__ inline Packed<uint16_t> fetch(const uint16_t* from) { return {*reinterpret_cast<const uint4*>(from)}; }

__device__ inline void unpack(const Packed<float>& packed, float (&values)[kWidth]) {
  const auto [low, high] = packed;
  values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
  values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
}

__device__ inline void unpack(const Packed<uint16_t>& packed, float (&values)[kWidth]) {
  const uint32_t pairs[4] = {packed.pairs.x, packed.pairs.y, packed.pairs.z, packed.pairs.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = __uint_as_float(pairs[i] << 16);
    values[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000u);
  }
}

template <class T>
__device__ inline void load(const T* from, float (&values)[kWidth]) {
  unpack(fetch(from), values);
}

__device__ inline void store(float* to, const float (&values)[kWidth]) {
  reinterpret_cast<float4*>(to)[0] = make_float4(values[0], values[1], values[2], values[3]);
  reinterpret_cast<float4*>(to)[1] = make_float4(values[4], values[5], values[6], values[7]);
}

__device__ inline void store(uint16_t* to, const float (&values)[kWidth]) {
  uint32_t pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
    pairs[i] = *reinterpret_cast<const uint32_t*>(&pair);
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

__device__ inline float activated(float value, float slope) { return value > 0 ? value : slope * value; }

/// Which rows and channels a thread of a block has: `groups` threads make a row, the block a few rows at a time.
struct Place {
  int groups, rows_at_once, group, row;

  __device__ explicit Place(int64_t channels)
      : groups(static_cast<int>(channels / kWidth)),
        rows_at_once(kThreads / groups),
        group(static_cast<int>(threadIdx.x) % groups),
        row(static_cast<int>(threadIdx.x) / groups) {}

  __device__ bool works() const { return row < rows_at_once; }
  __device__ int64_t first_row() const { return static_cast<int64_t>(blockIdx.x) * rows_at_once + row; }
  __device__ int64_t stride() const { return static_cast<int64_t>(gridDim.x) * rows_at_once; }
  /// How many of `rows` this thread has; number i is first_row() + i stride().
  __device__ int64_t count(int64_t rows) const {
    return works() && first_row() < rows ? (rows - 1 - first_row()) / stride() + 1 : 0;
  }
};

/// Where a pass begins. One that begins where the pass before it ended finds those rows in the cache.
enum class From { kFirstRow, kLastRow };

/// For each row of this thread, finish(at, fetch_row(at)), where `at` is the place of its first channel. Several rows
/// are fetched before the first is finished: a compiler does not move a load before a store, and with one row at a time
/// the memory waits.
template <int kAtOnce, From kFrom = From::kFirstRow, class Fetch, class Finish>
__device__ inline void for_rows(const Place& place, int64_t rows, Fetch fetch_row, Finish finish) {
  const int64_t channels = static_cast<int64_t>(place.groups) * kWidth;
  const int64_t count = place.count(rows), stride = place.stride() * channels;
  const int64_t first = place.first_row() * channels + place.group * kWidth;
  const int64_t step = kFrom == From::kFirstRow ? stride : -stride;
  int64_t at = kFrom == From::kFirstRow ? first : first + (count - 1) * stride, n = 0;
  for (; n + kAtOnce <= count; n += kAtOnce, at += kAtOnce * step) {
    decltype(fetch_row(at)) fetched[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) fetched[i] = fetch_row(at + i * step);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) finish(at + i * step, fetched[i]);
  }
  for (; n < count; ++n, at += step) finish(at, fetch_row(at));
}

/// Adds `sums` of all threads with the same channels and leaves them in partial[block, which, channels].
__device__ inline void add_up(const Place& place, const float (&sums)[kWidth], int which, int64_t channels,
                              float* partial) {
  __shared__ float all[kThreads][kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) all[threadIdx.x][i] = sums[i];
  __syncthreads();
  if (place.row == 0) {
    float total[kWidth] = {};
    for (int row = 0; row < place.rows_at_once; ++row)
#pragma unroll
      for (int i = 0; i < kWidth; ++i) total[i] += all[row * place.groups + place.group][i];
    store(partial + (static_cast<int64_t>(blockIdx.x) * 2 + which) * channels + place.group * kWidth, total);
  }
  __syncthreads();
}

constexpr int kFinishChannels = 32;
constexpr int kFinishRows = 32;  // it waits for memory, not for additions: many loads at a time

/// The sums of partial[:, which, channel], which < kSums, in the threads of row 0 (x: channel, y: share of the blocks)
/// of a finishing block.
template <int kSums>
__device__ inline void finish_sums(const float* partial, int64_t blocks, int64_t channels, int64_t channel,
                                   double (&sums)[kSums]) {
  __shared__ double shares[kSums][kFinishRows][kFinishChannels];
#pragma unroll
  for (int which = 0; which < kSums; ++which) sums[which] = 0;
  if (channel < channels)
#pragma unroll 4
    for (int64_t block = threadIdx.y; block < blocks; block += kFinishRows)
#pragma unroll
      for (int which = 0; which < kSums; ++which) sums[which] += partial[(block * 2 + which) * channels + channel];
#pragma unroll
  for (int which = 0; which < kSums; ++which) shares[which][threadIdx.y][threadIdx.x] = sums[which];
  __syncthreads();
  if (threadIdx.y != 0) return;
#pragma unroll
  for (int which = 0; which < kSums; ++which)
#pragma unroll
    for (int i = 1; i < kFinishRows; ++i) sums[which] += shares[which][i][threadIdx.x];
}

/// Launches `kernel(work, arguments...)` on a block for every so many rows.
template <class Kernel, class Work, class... Arguments>
void launch_blocks(Kernel kernel, int64_t blocks, void* stream, const Work& work, Arguments... arguments) {
  kernel<<<static_cast<unsigned>(blocks), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(work, arguments...);
  check_launch();
}

/// Launches a kernel that finishes sums, one column of threads per channel.
template <class Kernel, class Work, class... Arguments>
void launch_finish(Kernel kernel, int64_t channels, void* stream, const Work& work, Arguments... arguments) {
  const auto blocks = static_cast<unsigned>((channels + kFinishChannels - 1) / kFinishChannels);
  kernel<<<blocks, dim3(kFinishChannels, kFinishRows), 0, static_cast<cudaStream_t>(stream)>>>(work, arguments...);
  check_launch();
}

}  // namespace priornet::kernels
