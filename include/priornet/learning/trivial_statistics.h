#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/named_tensor.h>

#include <string>
#include <vector>

namespace priornet {

/// What can be said about an image without looking at what it shows. For images uint8 [N, C, H, W] each statistic is a
/// float64 [N], in this order; formulas in docs/math.md, section 8.
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

/// The features of rows of numbers as columns, float64 [N] each, under these names or, where there are none, "feature
/// 0" and so on.
std::vector<NamedTensor> feature_columns(const Dataset& set, const std::vector<std::string>& names);

/// The columns to compare sets by: trivial_statistics of images, the features of rows of numbers; float64 [N] each.
std::vector<NamedTensor> input_statistics(const Dataset& set);

/// How well one number per input tells two sets apart, in either direction.
struct StatisticAuroc {
  std::string name;
  double auroc = 0.5;         ///< max(a, 1 - a), in [0.5, 1], with a the AUROC of the number for OUT
  bool out_is_higher = true;  ///< a >= 0.5: OUT's numbers are the higher ones
  double in_median = 0;       ///< the lower of the two middle values
  double out_median = 0;
};

/// From the same statistics of both sets, float64 [N] and [M]. A value that is missing (NaN) ranks below every number.
/// ArgumentError if a set is empty or the names differ.
std::vector<StatisticAuroc> statistic_aurocs(const std::vector<NamedTensor>& in, const std::vector<NamedTensor>& out);

/// The one that tells the sets apart best; the first of equals. ArgumentError if there is none.
const StatisticAuroc& strongest(const std::vector<StatisticAuroc>& statistics);

}  // namespace priornet
