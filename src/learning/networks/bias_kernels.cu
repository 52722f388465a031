#include "learning/networks/convolution_kernels.h"
#include "learning/networks/vector8.cuh"

namespace priornet::kernels {
namespace {

constexpr int64_t kMostBlocks = 528;   // four on each of a large GPU's multiprocessors
constexpr int64_t kRowsOfAThread = 4;  // enough rows per block that adding up the sums costs little

template <class T>
__global__ void bias_forward(BiasForward<T> work) {
  const Place place(work.extent.channels);
  if (!place.works()) return;
  const int64_t channel = place.group * kWidth;
  float bias[kWidth];
  load(work.bias + channel, bias);
  for_rows<4>(
      place, work.extent.rows, [&](int64_t at) { return fetch(work.values + at); },
      [&](int64_t at, const Packed<T>& row) {
        float values[kWidth];
        unpack(row, values);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) values[i] = activated(values[i] + bias[i], work.activation.slope);
        store(work.output + at, values);
      });
}

template <class T>
__global__ void bias_backward(BiasBackward<T> work) {
  const Place place(work.extent.channels);
  float sums[kWidth] = {};
  struct Row {
    Packed<T> output, gradient;
  };
  for_rows<2>(
      place, work.extent.rows,
      [&](int64_t at) {
        return Row{fetch(work.output + at), fetch(work.output_gradient + at)};
      },
      [&](int64_t at, const Row& row) {
        float output[kWidth], gradient[kWidth];
        unpack(row.output, output);
        unpack(row.gradient, gradient);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          gradient[i] *= output[i] > 0 ? 1.0f : work.activation.slope;
          sums[i] += gradient[i];
        }
        store(work.values_gradient + at, gradient);
      });
  add_up(place, sums, 0, work.extent.channels, work.partial);
}

struct BiasSum {
  const float* partial;
  int64_t blocks, channels;
  float* bias_gradient;
};

__global__ void finish_bias(BiasSum work) {
  const int64_t channel = static_cast<int64_t>(blockIdx.x) * kFinishChannels + threadIdx.x;
  double sums[1];
  finish_sums(work.partial, work.blocks, work.channels, channel, sums);
  if (threadIdx.y == 0 && channel < work.channels) work.bias_gradient[channel] = static_cast<float>(sums[0]);
}

/// The four pixels under a pooled one.
template <class Work>
struct Square {
  int64_t first, channels, down;

  __device__ Square(const Work& work, int64_t pooled, int64_t channel)
      : channels(work.channels), down(work.width * work.channels) {
    const int64_t half = work.width / 2;
    const int64_t line = pooled / half, column = pooled % half;  // lines of all images; heights are even
    first = (2 * line * work.width + 2 * column) * work.channels + channel;
  }

  __device__ int64_t at(int which) const { return first + (which & 1) * channels + (which >> 1) * down; }
};

template <class T>
__global__ void pool_forward(PoolForward<T> work) {
  const Place place(work.channels);
  if (!place.works()) return;
  const int64_t rows = work.images * work.height * work.width / 4;
  const int64_t channel = place.group * kWidth;
  float bias[kWidth];
  load(work.bias + channel, bias);
  for (int64_t row = place.first_row(); row < rows; row += place.stride()) {
    const Square<PoolForward<T>> square(work, row, channel);
    float largest[kWidth];
    load(work.values + square.at(0), largest);
    uint32_t winner = 0;
#pragma unroll
    for (int which = 1; which < 4; ++which) {
      float values[kWidth];
      load(work.values + square.at(which), values);
#pragma unroll
      for (int i = 0; i < kWidth; ++i)
        if (values[i] > largest[i] || values[i] != values[i]) {
          largest[i] = values[i];
          winner = (winner & ~(3u << (2 * i))) | (static_cast<uint32_t>(which) << (2 * i));
        }
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) largest[i] = activated(largest[i] + bias[i], work.activation.slope);
    store(work.output + row * work.channels + channel, largest);
    work.winner[row * place.groups + place.group] = static_cast<uint16_t>(winner);
  }
}

template <class T>
__global__ void pool_backward(PoolBackward<T> work) {
  const Place place(work.channels);
  const int64_t rows = work.images * work.height * work.width / 4;
  const int64_t channel = place.group * kWidth;
  float sums[kWidth] = {};
  if (place.works())
    for (int64_t row = place.first_row(); row < rows; row += place.stride()) {
      const int64_t at = row * work.channels + channel;
      float output[kWidth], gradient[kWidth];
      load(work.output + at, output);
      load(work.output_gradient + at, gradient);
      const uint32_t winner = work.winner[row * place.groups + place.group];
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        gradient[i] *= output[i] > 0 ? 1.0f : work.activation.slope;
        sums[i] += gradient[i];
      }
      const Square<PoolBackward<T>> square(work, row, channel);
#pragma unroll
      for (int which = 0; which < 4; ++which) {
        float part[kWidth];
#pragma unroll
        for (int i = 0; i < kWidth; ++i) part[i] = ((winner >> (2 * i)) & 3u) == which ? gradient[i] : 0.0f;
        store(work.values_gradient + square.at(which), part);
      }
    }
  add_up(place, sums, 0, work.channels, work.partial);
}

__global__ void add_values(Addition work) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kWidth;
  if (at >= work.size) return;
  float part[kWidth], sum[kWidth];
  load(work.part + at, part);
  load(work.sum + at, sum);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) sum[i] += part[i];
  store(work.sum + at, sum);
}

}  // namespace

void run(const Addition& work, void* stream) {
  constexpr int64_t kBlock = kThreads * kWidth;
  launch_blocks(add_values, (work.size + kBlock - 1) / kBlock, stream, work);
}

int64_t partial_blocks(int64_t rows, int64_t channels) {
  const int64_t at_once = kThreads / (channels / kWidth);
  return std::clamp<int64_t>(rows / (at_once * kRowsOfAThread), 1, kMostBlocks);
}

template <class T>
void run(const BiasForward<T>& work, void* stream) {
  launch_blocks(bias_forward<T>, partial_blocks(work.extent.rows, work.extent.channels), stream, work);
}

template <class T>
void run(const BiasBackward<T>& work, void* stream) {
  const auto [rows, channels] = work.extent;
  const auto blocks = partial_blocks(rows, channels);
  launch_blocks(bias_backward<T>, blocks, stream, work);
  launch_finish(finish_bias, channels, stream, BiasSum{work.partial, blocks, channels, work.bias_gradient});
}

template <class T>
void run(const PoolForward<T>& work, void* stream) {
  launch_blocks(pool_forward<T>, partial_blocks(work.images * work.height * work.width / 4, work.channels), stream,
                work);
}

template <class T>
void run(const PoolBackward<T>& work, void* stream) {
  const auto blocks = partial_blocks(work.images * work.height * work.width / 4, work.channels);
  launch_blocks(pool_backward<T>, blocks, stream, work);
  launch_finish(finish_bias, work.channels, stream, BiasSum{work.partial, blocks, work.channels, work.bias_gradient});
}

#define PRIORNET_RUN(Work)                      \
  template void run(const Work<float>&, void*); \
  template void run(const Work<uint16_t>&, void*)

PRIORNET_RUN(BiasForward);
PRIORNET_RUN(BiasBackward);
PRIORNET_RUN(PoolForward);
PRIORNET_RUN(PoolBackward);

}  // namespace priornet::kernels
