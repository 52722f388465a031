#pragma once

#include <priornet/data/transforms/fitting.h>
#include <priornet/synthesis/factor_analysis.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

// Draws from a factor analysis whose variance is inflated, which lie around the data and beyond: what the paper trains
// MNIST's Prior Network on as out-of-distribution data.

namespace priornet {

/// s ~ U(low, high) multiplies the variances of latent vector and noise: x = mean + sqrt(s) (W z + e).
struct ScaleOptions {
  double low = 0.01;
  double high = 5;
  int64_t batch = 128;  ///< so many consecutive samples share one s, as the authors have it; 1: each its own
};

/// float32 [count, D], on the device of the model; the same values on any. ArgumentError unless 0 <= low <= high.
torch::Tensor sample(const FactorAnalysis& model, int64_t count, const ScaleOptions& scale, uint64_t seed);

/// How a draw gets into the input range [-1, 1].
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
