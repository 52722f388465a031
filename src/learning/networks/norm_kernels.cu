#include "learning/networks/convolution_kernels.h"
#include "learning/networks/vector8.cuh"

namespace priornet::kernels {
namespace {

// Sums of distances from the first row, so that a mean far from zero costs no digits.
template <class T>
__global__ void norm_sums(NormForward<T> work) {
  const int64_t channels = work.extent.channels;
  const Place place(channels);
  const int64_t channel = place.group * kWidth;
  float origin[kWidth], sums[kWidth] = {}, squares[kWidth] = {};
  load(work.values + channel, origin);
  const int64_t count = place.count(work.extent.rows);
#pragma unroll 4
  for (int64_t n = 0; n < count; ++n) {
    float values[kWidth];
    load(work.values + (place.first_row() + n * place.stride()) * channels + channel, values);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float distance = values[i] - origin[i];
      sums[i] += distance;
      squares[i] += distance * distance;
    }
  }
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

template <class T, bool kResidual>
__global__ void norm_forward(NormForward<T> work) {
  const int64_t channels = work.extent.channels;
  const Place place(channels);
  if (!place.works()) return;
  const int64_t channel = place.group * kWidth;
  float scale[kWidth], shift[kWidth];
  load(work.norm + kScale * channels + channel, scale);
  load(work.norm + kShift * channels + channel, shift);
  for (int64_t row = place.first_row(); row < work.extent.rows; row += place.stride()) {
    const int64_t at = row * channels + channel;
    float values[kWidth], residual[kWidth] = {};
    load(work.values + at, values);
    if constexpr (kResidual) load(work.residual + at, residual);
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      values[i] = activated(fmaf(values[i], scale[i], shift[i]) + residual[i], work.activation.slope);
    store(work.output + at, values);
  }
}

/// The gradient before the activation, for eight channels. Without a residual the activation's argument is computed
/// again, which is cheaper than reading the output.
template <class T, bool kResidual>
struct Inner {
  float scale[kWidth], shift[kWidth];

  __device__ Inner(const NormBackward<T>& work, int64_t channel) {
    load(work.norm + kScale * work.extent.channels + channel, scale);
    load(work.norm + kShift * work.extent.channels + channel, shift);
  }

  __device__ void gradient(const NormBackward<T>& work, int64_t at, const float (&values)[kWidth],
                           float (&gradient)[kWidth]) const {
    load(work.output_gradient + at, gradient);
    float sign[kWidth];
    if constexpr (kResidual) load(work.output + at, sign);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if constexpr (!kResidual) sign[i] = fmaf(values[i], scale[i], shift[i]);
      gradient[i] *= sign[i] > 0 ? 1.0f : work.activation.slope;
    }
  }
};

template <class T, bool kResidual>
__global__ void norm_gradient_sums(NormBackward<T> work) {
  const int64_t channels = work.extent.channels;
  const Place place(channels);
  const int64_t channel = place.group * kWidth;
  float sums[kWidth] = {}, products[kWidth] = {};
  if (place.works()) {
    const Inner<T, kResidual> inner(work, channel);
    float mean[kWidth];
    load(work.norm + kMean * channels + channel, mean);
    const int64_t count = place.count(work.extent.rows);
#pragma unroll 2
    for (int64_t n = 0; n < count; ++n) {
      const int64_t at = (place.first_row() + n * place.stride()) * channels + channel;
      float values[kWidth], gradient[kWidth];
      load(work.values + at, values);
      inner.gradient(work, at, values, gradient);
      if constexpr (kResidual) store(work.residual_gradient + at, gradient);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        sums[i] += gradient[i];
        products[i] += gradient[i] * (values[i] - mean[i]);
      }
    }
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
__global__ void norm_backward(NormBackward<T> work) {
  const int64_t channels = work.extent.channels;
  const Place place(channels);
  if (!place.works()) return;
  const int64_t channel = place.group * kWidth;
  const Inner<T, kResidual> inner(work, channel);
  float of_gradient[kWidth], of_values[kWidth], of_one[kWidth];
  load(work.coefficients + channel, of_gradient);
  load(work.coefficients + channels + channel, of_values);
  load(work.coefficients + 2 * channels + channel, of_one);
  for (int64_t row = place.first_row(); row < work.extent.rows; row += place.stride()) {
    const int64_t at = row * channels + channel;
    float values[kWidth], gradient[kWidth];
    load(work.values + at, values);
    if constexpr (kResidual)
      load(work.residual_gradient + at, gradient);
    else
      inner.gradient(work, at, values, gradient);
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      gradient[i] = fmaf(of_gradient[i], gradient[i], fmaf(of_values[i], values[i], of_one[i]));
    store(work.values_gradient + at, gradient);
  }
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

template void run(const NormForward<float>&, void*);
template void run(const NormForward<uint16_t>&, void*);
template void run(const NormBackward<float>&, void*);
template void run(const NormBackward<uint16_t>&, void*);

}  // namespace priornet::kernels
