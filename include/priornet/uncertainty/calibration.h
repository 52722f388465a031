#pragma once

#include <torch/types.h>

#include <vector>

// How far the probabilities of a classifier can be believed. probabilities: [N, K], float32 or float64, rows sum to 1;
// labels: int64 [N], on the same device. N >= 1. A wrong shape, dtype or device throws ArgumentError.

namespace priornet {

/// The share of rows whose most probable class is not the label.
double error_rate(const torch::Tensor& probabilities, const torch::Tensor& labels);

/// Mean of -ln p(label), nats. A probability of 0 counts as the smallest there is, so that it stays finite.
double negative_log_likelihood(const torch::Tensor& probabilities, const torch::Tensor& labels);

/// Mean of the sum over classes of (p_c - [c is the label])^2, in [0, 2] (Brier, 1950).
double brier_score(const torch::Tensor& probabilities, const torch::Tensor& labels);

enum class Binning {
  kEqualWidth,  ///< of confidence: the usual ECE
  kEqualCount   ///< of rows per bin, adaptive: no bin is left to a few rows; equal confidences share their accuracy
};

/// Expected calibration error: over bins of the largest probability, the mean distance between it and the share that is
/// right, weighted by rows (Guo et al., 2017).
double calibration_error(const torch::Tensor& probabilities, const torch::Tensor& labels,
                         Binning binning = Binning::kEqualWidth, int64_t bins = 15);

/// A bar of a reliability diagram.
struct ReliabilityBin {
  int64_t rows = 0;
  double confidence = 0.0;  ///< mean of the largest probability
  double accuracy = 0.0;    ///< share that is right
};

/// The bins that the calibration error sums over, from low to high confidence; empty ones are left out.
std::vector<ReliabilityBin> reliability(const torch::Tensor& probabilities, const torch::Tensor& labels,
                                        Binning binning, int64_t bins);

}  // namespace priornet
