#pragma once

#include <torch/types.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace priornet {

enum class Resampling { kNearest, kBilinear, kBicubic };

/// The names that users give.
constexpr std::array<std::pair<std::string_view, Resampling>, 3> kResamplingNames = {
    {{"nearest", Resampling::kNearest}, {"bilinear", Resampling::kBilinear}, {"bicubic", Resampling::kBicubic}}};

constexpr std::string_view name_of(Resampling resampling) {
  return std::find_if(kResamplingNames.begin(), kResamplingNames.end(),
                      [&](const auto& name) { return name.second == resampling; })
      ->first;
}

/// Which place of the source a pixel is taken from: pixels are squares and their centres match, as in Pillow and
/// PyTorch, or pixels are points and the first ones match, as in TensorFlow 1 (ONNX: "asymmetric"). At half the size
/// the first is the mean of 2 x 2 pixels when bilinear, the second every other pixel.
enum class PixelGrid { kCentres, kCorners };

struct ResizeOptions {
  int64_t height = 0;
  int64_t width = 0;
  Resampling resampling = Resampling::kBilinear;
  /// With it the filter widens as an image shrinks, as in Pillow's Image.resize; without it each pixel is
  /// interpolated at one point, as in Pillow's Image.transform, and fine detail aliases. Nearest has none either
  /// way.
  bool antialias = true;
  PixelGrid grid = PixelGrid::kCentres;  ///< kCorners: of nearest, or without antialias
};

/// Images uint8 [N, C, H, W] or [C, H, W] at another size: the same bytes as Pillow gives (9.4).
/// A size below 1, another dtype or rank, or kCorners with antialias throws ArgumentError. An image that has the size
/// already comes back as it is. The work is done on the CPU; the result lies on the images' device.
torch::Tensor resize(const torch::Tensor& images, const ResizeOptions& options);

}  // namespace priornet
