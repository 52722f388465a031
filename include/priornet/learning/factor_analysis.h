#pragma once

#include <priornet/learning/progress.h>
#include <priornet/learning/transforms.h>
#include <torch/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

// Factor analysis: x = mean + W z + e with z ~ N(0, I) of few dimensions L and e ~ N(0, diag(psi)), so that
// x ~ N(mean, W W' + diag(psi)). docs/math.md, section 7. Values out of range throw ArgumentError.

namespace priornet {

struct FactorAnalysisOptions {
  int64_t latent = 50;  ///< L, from 1 to D
  int64_t max_iterations = 1000;
  double tolerance = 1e-3;  ///< ends when an iteration gains less, in nats per sample
  /// The least noise variance, as a share of the mean variance of a dimension. Without it a dimension that never
  /// changes (the border of a digit) would have an infinite likelihood.
  double noise_floor = 1e-6;
  uint64_t seed = 0;  ///< of the subspace iteration that EM starts from
};

/// float64, on the device of the data.
struct FactorAnalysis {
  torch::Tensor mean;                  ///< [D]
  torch::Tensor loading;               ///< W, [D, L]
  torch::Tensor noise;                 ///< psi, [D]
  std::vector<double> log_likelihood;  ///< average nats per sample: before the first iteration, then after each
};

/// The maximum-likelihood model of data [N, D], N >= 2, float32 or float64, by EM on the covariance, which is computed
/// once. Data that is not finite, or does not vary at all, throws ArgumentError.
FactorAnalysis fit_factor_analysis(const torch::Tensor& data, const FactorAnalysisOptions& options, Progress& progress);

/// Data that is too large to hold at once.
struct RowPieces {
  int64_t rows = 0;
  int64_t columns = 0;
  /// Rows first, ..., first + count - 1: float32 or float64 [count, columns], always on one device.
  std::function<torch::Tensor(int64_t first, int64_t count)> take;
};

/// The same for data in pieces; each piece is read twice.
FactorAnalysis fit_factor_analysis(const RowPieces& data, const FactorAnalysisOptions& options, Progress& progress);

/// ln N(x; mean, W W' + diag(psi)) of each row of data [N, D], float64 [N].
torch::Tensor log_density(const FactorAnalysis& model, const torch::Tensor& data);

// Draws from a factor analysis with inflated variance, which lie around the data and beyond it. The paper trains its
// MNIST Prior Network on them as out-of-distribution data.

/// s ~ U(low, high) multiplies the variances of latent vector and noise: x = mean + sqrt(s) (W z + e).
struct ScaleOptions {
  double low = 0.01;
  double high = 5;
  int64_t batch = 128;  ///< this many consecutive samples share one s, as in the authors' code; 1: each has its own
};

/// float32 [count, D], on the device of the model; the same values on any. ArgumentError unless 0 <= low <= high.
torch::Tensor sample(const FactorAnalysis& model, int64_t count, const ScaleOptions& scale, uint64_t seed);

/// How a draw is brought into the input range [-1, 1].
enum class Squash {
  kTanh,  ///< as the authors' code does. It also moves what lies inside: a background of -1 becomes -0.76
  kClip   ///< keeps what lies inside: a background stays black
};
constexpr std::array<std::pair<std::string_view, Squash>, 2> kSquashNames = {
    {{"tanh", Squash::kTanh}, {"clip", Squash::kClip}}};
torch::Tensor squash(const torch::Tensor& samples, Squash how);

struct SampleImagesOptions {
  ScaleOptions scale = {};
  Squash squash = Squash::kTanh;
  uint64_t seed = 0;
};

/// Draws as images uint8 [count, C, H, W], of a model fitted to images in [-1, 1] (to_unit_range, flattened).
/// ArgumentError if the shape has another number of pixels than the model has dimensions.
torch::Tensor sample_images(const FactorAnalysis& model, int64_t count, const ImageShape& shape,
                            const SampleImagesOptions& options);

}  // namespace priornet
