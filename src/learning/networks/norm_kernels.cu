#include "learning/networks/convolution_kernels.h"
#include "learning/networks/vector8.cuh"

namespace priornet::kernels {
namespace {

// Each norm takes two passes over the values. The second begins where the first ended.
constexpr auto kSecondPass = From::kLastRow;

// Blocks that a multiprocessor runs at once: with three, the last round of partial_blocks() would leave most of them
// idle.
constexpr int kBlocksOfForward = 4, kBlocksOfBackward = 2;

// Sums of distances from the first row, so that a mean far from zero costs no digits.
template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksOfForward) norm_sums(NormForward<T> work) {
  const int64_t channels = work.extent.channels;
  const Place place(channels);
  const int64_t channel = place.group * kWidth;
  float origin[kWidth], sums[kWidth] = {}, squares[kWidth] = {};
  load(work.values + channel, origin);
  for_rows<4>(
      place, work.extent.rows, [&](int64_t at) { return fetch(work.values + at); },
      [&](int64_t, const Packed<T>& row) {
        float values[kWidth];
        unpack(row, values);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          const float distance = values[i] - origin[i];
          sums[i] += distance;
          squares[i] += distance * distance;
        }
      });
  add_up(place, sums, 0, channels, work.partial);
  add_up(place, squares, 1, channels, work.partial);
}

__device__ inline float as_float(float value) { return value; }
__device__ inline float as_float(uint16_t bits) { return __uint_as_float(static_cast<uint32_t>(bits) << 16); }

template <class T>
__global__ void finish_norm(NormForward<T> work, int64_t blocks) {
  const auto [rows, channels] = work.extent;
  const int64_t channel = static_cast<int64_t>(blockIdx.x) * kFinishChannels + threadIdx.x;
  double sums[2];
  finish_sums(work.partial, blocks, channels, channel, sums);
  if (threadIdx.y != 0 || channel >= channels) return;
  const auto [sum, squares] = sums;
  const double count = static_cast<double>(rows);
  const double distance = sum / count;
  const double mean = distance + as_float(work.values[channel]);
  const double variance = fmax(squares / count - distance * distance, 0.0);
  const double inverse = 1.0 / sqrt(variance + work.epsilon);
  const double scale = inverse * work.weight[channel];
  work.norm[kMean * channels + channel] = static_cast<float>(mean);
  work.norm[kInverseDeviation * channels + channel] = static_cast<float>(inverse);
  work.norm[kScale * channels + channel] = static_cast<float>(scale);
  work.norm[kShift * channels + channel] = static_cast<float>(work.bias[channel] - mean * scale);
  const double old = 1.0 - work.momentum;
  const double unbiased = variance * count / fmax(count - 1.0, 1.0);
  work.running_mean[channel] = static_cast<float>(old * work.running_mean[channel] + work.momentum * mean);
  work.running_variance[channel] = static_cast<float>(old * work.running_variance[channel] + work.momentum * unbiased);
  if (channel == 0) ++*work.batches;
}

/// Writes activation(scale values + shift + residual) for each row of this thread, from kFrom on, and calls
/// keep(at, signs) with one bit per channel: is the activation's argument positive.
template <bool kResidual, From kFrom, class Work, class Keep>
__device__ inline void write_normed(const Work& work, const Place& place, const float (&scale)[kWidth],
                                    const float (&shift)[kWidth], Keep keep) {
  using Values = decltype(fetch(work.values));
  struct Row {
    Values values, residual;
  };
  for_rows<kResidual ? 2 : 4, kFrom>(
      place, work.extent.rows,
      [&](int64_t at) {
        Row row;
        row.values = fetch(work.values + at);
        if constexpr (kResidual) row.residual = fetch(work.residual + at);
        return row;
      },
      [&](int64_t at, const Row& row) {
        float values[kWidth], residual[kWidth] = {};
        unpack(row.values, values);
        if constexpr (kResidual) unpack(row.residual, residual);
        uint32_t positive = 0;
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          const float before = fmaf(values[i], scale[i], shift[i]) + residual[i];
          positive |= static_cast<uint32_t>(before > 0) << i;
          values[i] = activated(before, work.activation.slope);
        }
        store(work.output + at, values);
        keep(at, positive);
      });
}

template <class T, bool kResidual>
__global__ void __launch_bounds__(kThreads, kBlocksOfForward) norm_forward(NormForward<T> work) {
  const int64_t channels = work.extent.channels;
  const Place place(channels);
  if (!place.works()) return;
  const int64_t channel = place.group * kWidth;
  float scale[kWidth], shift[kWidth];
  load(work.norm + kScale * channels + channel, scale);
  load(work.norm + kShift * channels + channel, shift);
  write_normed<kResidual, kSecondPass>(work, place, scale, shift, [&](int64_t at, uint32_t positive) {
    if constexpr (kResidual) work.positive[at / kWidth] = static_cast<uint8_t>(positive);
  });
}

template <class T, bool kResidual>
__global__ void __launch_bounds__(kThreads, kBlocksOfForward) norm_by_running(NormByRunning<T> work) {
  const Place place(work.extent.channels);
  if (!place.works()) return;
  const int64_t channel = place.group * kWidth;
  float scale[kWidth], shift[kWidth], mean[kWidth], variance[kWidth];
  load(work.weight + channel, scale);
  load(work.bias + channel, shift);
  load(work.running_mean + channel, mean);
  load(work.running_variance + channel, variance);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    scale[i] /= sqrtf(variance[i] + work.epsilon);
    shift[i] -= mean[i] * scale[i];
  }
  write_normed<kResidual, From::kFirstRow>(work, place, scale, shift, [](int64_t, uint32_t) {});
}

/// A row of the backward pass.
template <class T>
struct GradientRow {
  Packed<T> values, gradient, second_gradient;
  uint8_t positive;
};

/// The gradient before the activation, for eight channels. Without a residual the activation's argument is computed
/// again; with one its signs were kept.
template <class T, bool kResidual>
struct Inner {
  const NormBackward<T>& work;
  float scale[kWidth], shift[kWidth];

  __device__ Inner(const NormBackward<T>& backward, int64_t channel) : work(backward) {
    load(work.norm + kScale * work.extent.channels + channel, scale);
    load(work.norm + kShift * work.extent.channels + channel, shift);
  }

  __device__ GradientRow<T> fetch_row(int64_t at) const {
    GradientRow<T> row;
    row.values = fetch(work.values + at);
    row.gradient = fetch(work.output_gradient + at);
    if (work.second_gradient != nullptr) row.second_gradient = fetch(work.second_gradient + at);
    if constexpr (kResidual) row.positive = work.positive[at / kWidth];
    return row;
  }

  __device__ void unpack_row(const GradientRow<T>& row, float (&values)[kWidth], float (&gradient)[kWidth]) const {
    unpack(row.values, values);
    unpack(row.gradient, gradient);
    float second[kWidth] = {};
    if (work.second_gradient != nullptr) unpack(row.second_gradient, second);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const bool positive = kResidual ? (row.positive >> i & 1) != 0 : fmaf(values[i], scale[i], shift[i]) > 0;
      gradient[i] = (gradient[i] + second[i]) * (positive ? 1.0f : work.activation.slope);
    }
  }
};

template <class T, bool kResidual>
__global__ void __launch_bounds__(kThreads, kBlocksOfBackward) norm_gradient_sums(NormBackward<T> work) {
  const int64_t channels = work.extent.channels;
  const Place place(channels);
  const int64_t channel = place.group * kWidth;
  float sums[kWidth] = {}, products[kWidth] = {};
  if (place.works()) {
    const Inner<T, kResidual> inner(work, channel);
    float mean[kWidth];
    load(work.norm + kMean * channels + channel, mean);
    for_rows<4>(
        place, work.extent.rows, [&](int64_t at) { return inner.fetch_row(at); },
        [&](int64_t at, const GradientRow<T>& row) {
          float values[kWidth], gradient[kWidth];
          inner.unpack_row(row, values, gradient);
          if constexpr (kResidual) store(work.residual_gradient + at, gradient);
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            sums[i] += gradient[i];
            products[i] += gradient[i] * (values[i] - mean[i]);
          }
        });
  }
  add_up(place, sums, 0, channels, work.partial);
  add_up(place, products, 1, channels, work.partial);
}

// The gradient in the values is linear in the arriving gradient, the values and one: these are its three coefficients.
template <class T>
__global__ void finish_norm_gradient(NormBackward<T> work, int64_t blocks) {
  const auto [rows, channels] = work.extent;
  const int64_t channel = static_cast<int64_t>(blockIdx.x) * kFinishChannels + threadIdx.x;
  double sums[2];
  finish_sums(work.partial, blocks, channels, channel, sums);
  if (threadIdx.y != 0 || channel >= channels) return;
  const auto [sum, product] = sums;
  const double mean = work.norm[kMean * channels + channel];
  const double inverse = work.norm[kInverseDeviation * channels + channel];
  const double count = static_cast<double>(rows);
  const double of_gradient = work.weight[channel] * inverse;
  const double of_values = -of_gradient * inverse * inverse * product / count;
  work.coefficients[channel] = static_cast<float>(of_gradient);
  work.coefficients[channels + channel] = static_cast<float>(of_values);
  work.coefficients[2 * channels + channel] = static_cast<float>(-of_gradient * sum / count - of_values * mean);
  const auto of_weight = static_cast<float>(product * inverse), of_bias = static_cast<float>(sum);
  work.weight_gradient[channel] = work.adds ? work.weight_gradient[channel] + of_weight : of_weight;
  work.bias_gradient[channel] = work.adds ? work.bias_gradient[channel] + of_bias : of_bias;
}

template <class T, bool kResidual>
__global__ void __launch_bounds__(kThreads, kBlocksOfBackward) norm_backward(NormBackward<T> work) {
  const int64_t channels = work.extent.channels;
  const Place place(channels);
  if (!place.works()) return;
  const int64_t channel = place.group * kWidth;
  const Inner<T, kResidual> inner(work, channel);
  float of_gradient[kWidth], of_values[kWidth], of_one[kWidth];
  load(work.coefficients + channel, of_gradient);
  load(work.coefficients + channels + channel, of_values);
  load(work.coefficients + 2 * channels + channel, of_one);
  for_rows<4, kSecondPass>(
      place, work.extent.rows,
      [&](int64_t at) {
        if constexpr (kResidual) {
          GradientRow<T> row;
          row.values = fetch(work.values + at);
          row.gradient = fetch(work.residual_gradient + at);  // activation and second gradient are in it
          return row;
        } else {
          return inner.fetch_row(at);
        }
      },
      [&](int64_t at, const GradientRow<T>& row) {
        float values[kWidth], gradient[kWidth];
        if constexpr (kResidual) {
          unpack(row.values, values);
          unpack(row.gradient, gradient);
        } else {
          inner.unpack_row(row, values, gradient);
        }
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          gradient[i] = fmaf(of_gradient[i], gradient[i], fmaf(of_values[i], values[i], of_one[i]));
        store(work.values_gradient + at, gradient);
      });
}

}  // namespace

template <class T>
void run(const NormForward<T>& work, void* stream) {
  const auto [rows, channels] = work.extent;
  const auto blocks = partial_blocks(rows, channels);
  launch_blocks(norm_sums<T>, blocks, stream, work);
  launch_finish(finish_norm<T>, channels, stream, work, blocks);
  launch_blocks(work.residual != nullptr ? norm_forward<T, true> : norm_forward<T, false>, blocks, stream, work);
}

template <class T>
void run(const NormBackward<T>& work, void* stream) {
  const auto [rows, channels] = work.extent;
  const auto blocks = partial_blocks(rows, channels);
  const bool residual = work.residual_gradient != nullptr;
  launch_blocks(residual ? norm_gradient_sums<T, true> : norm_gradient_sums<T, false>, blocks, stream, work);
  launch_finish(finish_norm_gradient<T>, channels, stream, work, blocks);
  launch_blocks(residual ? norm_backward<T, true> : norm_backward<T, false>, blocks, stream, work);
}

template <class T>
void run(const NormByRunning<T>& work, void* stream) {
  const auto blocks = partial_blocks(work.extent.rows, work.extent.channels);
  launch_blocks(work.residual != nullptr ? norm_by_running<T, true> : norm_by_running<T, false>, blocks, stream, work);
}

template void run(const NormForward<float>&, void*);
template void run(const NormForward<uint16_t>&, void*);
template void run(const NormBackward<float>&, void*);
template void run(const NormBackward<uint16_t>&, void*);
template void run(const NormByRunning<float>&, void*);
template void run(const NormByRunning<uint16_t>&, void*);

}  // namespace priornet::kernels
