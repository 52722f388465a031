#pragma once

#include <cstdint>

// What follows a convolution, on a GPU: one pass over memory where LibTorch takes several. Values lie channels-last,
// [rows, channels] with one row per pixel; `channels` is a multiple of 8, up to kMostChannels. Sums over rows are made
// in an order that depends on the sizes alone. `stream` is a cudaStream_t; a kernel that does not start throws Error.

namespace priornet::kernels {

constexpr int64_t kMostChannels = 2048;

/// Sums of blocks of rows, before they are added up: float [blocks, 2, channels].
int64_t partial_blocks(int64_t rows, int64_t channels);

/// max(x, slope x), slope in [0, 1]: 0 is ReLU, 1 leaves x as it is.
struct Activation {
  float slope = 0;
};

/// Where rows of T lie and how large they are.
struct Extent {
  int64_t rows = 0;
  int64_t channels = 0;
};

/// output = activation(values + bias).
template <class T>
struct BiasForward {
  Extent extent;
  Activation activation;
  const T* values;
  const float* bias;
  T* output;
};

template <class T>
struct BiasBackward {
  Extent extent;
  Activation activation;
  const T* output;           ///< of the forward pass
  const T* output_gradient;  ///< the gradient that arrives
  T* values_gradient;
  float* partial;        ///< [partial_blocks, 2, channels], scratch
  float* bias_gradient;  ///< [channels]
};

/// The same, followed by the largest value of each 2x2 square of pixels. Images of an even height and width.
template <class T>
struct PoolForward {
  int64_t images, height, width, channels;  ///< of the values
  Activation activation;
  const T* values;
  const float* bias;
  T* output;         ///< a quarter of the rows
  uint16_t* winner;  ///< [rows / 4, channels / 8]: two bits per channel: which of the four it was
};

template <class T>
struct PoolBackward {
  int64_t images, height, width, channels;  ///< of the values
  Activation activation;
  const T* output;
  const T* output_gradient;
  const uint16_t* winner;
  T* values_gradient;
  float* partial;        ///< [partial_blocks(rows / 4), 2, channels], scratch
  float* bias_gradient;  ///< [channels]
};

/// What batch norm is of a batch: float [4, channels].
enum NormRow { kMean, kInverseDeviation, kScale, kShift, kNormRows };

/// Batch norm in training: output = activation(normed values + residual).
template <class T>
struct NormForward {
  Extent extent;
  Activation activation;
  const T* values;
  const T* residual;  ///< may be null
  const float* weight;
  const float* bias;
  float momentum, epsilon;
  float* running_mean;
  float* running_variance;
  int64_t* batches;  ///< counted
  float* partial;    ///< [partial_blocks, 2, channels], scratch
  float* norm;       ///< [kNormRows, channels]
  T* output;
  uint8_t*
      positive;  ///< [rows, channels / 8]: with a residual, one bit per channel: is the activation's argument positive
};

template <class T>
struct NormBackward {
  Extent extent;
  Activation activation;
  const T* values;
  const uint8_t* positive;  ///< of the forward pass
  const T* output_gradient;
  const T* second_gradient;  ///< added to it; may be null
  const float* weight;
  const float* norm;
  float* partial;        ///< [partial_blocks, 2, channels], scratch
  float* coefficients;   ///< [3, channels], scratch
  T* residual_gradient;  ///< null without a residual
  T* values_gradient;
  float* weight_gradient;
  float* bias_gradient;
  bool adds;  ///< to what these two hold
};

/// Batch norm by its running statistics: output = activation(normed values + residual).
template <class T>
struct NormByRunning {
  Extent extent;
  Activation activation;
  const T* values;
  const T* residual;  ///< may be null
  const float* weight;
  const float* bias;
  const float* running_mean;
  const float* running_variance;
  float epsilon;
  T* output;  ///< may be the values
};

/// sum += part, a multiple of 8 values.
struct Addition {
  int64_t size;
  const uint16_t* part;  ///< bits of bfloat16
  float* sum;
};
void run(const Addition& work, void* stream);

/// T: float, or uint16_t for the bits of a bfloat16.
template <class T>
void run(const BiasForward<T>& work, void* stream);
template <class T>
void run(const BiasBackward<T>& work, void* stream);
template <class T>
void run(const PoolForward<T>& work, void* stream);
template <class T>
void run(const PoolBackward<T>& work, void* stream);
template <class T>
void run(const NormForward<T>& work, void* stream);
template <class T>
void run(const NormBackward<T>& work, void* stream);
template <class T>
void run(const NormByRunning<T>& work, void* stream);

}  // namespace priornet::kernels
