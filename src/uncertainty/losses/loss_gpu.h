#pragma once

#include "uncertainty/losses/loss_kernels.h"

// The losses of a batch on a GPU: its rows with their gradients in one launch or two, their means in another, without
// waiting for the host. On the CPU they are computed in lanes.

namespace priornet {

/// Rows with one kind of target, and after them rows with another: the inside and the outside of a batch. Both have the
/// same divergence and number of classes; only the first may have a teacher.
template <class T>
struct LossBatch {
  LossRows<T> inside, outside;
  double steepest;          ///< the largest element of the gradient, either way
  KeptClass<double>* kept;  ///< [loss_scratch(rows, classes)]
  double* partial_sums;     ///< [kLossBlocks, 3], or null
};

constexpr int64_t kLossBlocks = 2048;

/// How much device memory rows need: a byte per row; and if rows are too long for a block's shared memory, what they
/// keep about their classes between two passes.
int64_t loss_scratch(int64_t rows, int64_t classes);

/// The sums of each block: divergences inside and outside, cross-entropies.
enum LossSum { kInsideSum, kOutsideSum, kCrossEntropySum, kLossSums };

/// Means of the parts over this many rows each, and their weighted sum.
template <class T>
struct LossMeans {
  const double* partial_sums;
  int64_t rows, classes;  ///< of the batch
  double shares[kLossSums];
  double weights[kLossSums];
  T* means[kLossSums];
  T* total;
};

/// `stream` is a cudaStream_t.
template <class T>
void launch_losses(const LossBatch<T>& batch, void* stream);
template <class T>
void launch_loss_means(const LossMeans<T>& means, void* stream);

}  // namespace priornet
