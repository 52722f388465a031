#pragma once

#include <priornet/data/arrays/named_tensor.h>

#include <vector>

namespace priornet {

/// What can be said of an image without looking at what it shows: images uint8 [N, C, H, W], a float64 [N] each, in
/// this order; formulas in docs/math.md, section 8.
///   "mean brightness"        of the grey image y, the mean of the channels in [0, 1]
///   "variance"               of y
///   "edge energy"            the mean squared difference of neighbours in y
///   "high-frequency energy"  the mean squared Laplacian of y over 20 times its variance: 1 for white noise
///   "border brightness"      the mean of y over the outermost ring of pixels
///   "extreme pixels"         the share of values that are 0 or 255
///   "saturation"             the mean over pixels of the highest less the lowest channel; only for C > 1
/// Another dtype or rank, or images without pixels, throw ArgumentError.
std::vector<NamedTensor> trivial_statistics(const torch::Tensor& images);

/// The statistics that the same images have when inverted (255 - value); the two brightnesses differ, the others stay.
std::vector<NamedTensor> inverted_statistics(const std::vector<NamedTensor>& statistics);

}  // namespace priornet
