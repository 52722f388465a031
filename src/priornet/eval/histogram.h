#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace priornet {

/// Bins of equal width from low to high.
struct HistogramBins {
  double low = 0.0;
  double high = 1.0;
  int64_t count = 60;
};

/// Bins for several sets of values: from the least to the greatest, but for a thousandth of each set on either side,
/// which does not widen them. Values that are not finite count for nothing; without any the bins are those of [0, 1].
HistogramBins shared_bins(const std::vector<std::span<const double>>& sets, int64_t count = 60);

/// How many values lie in each bin; what lies beyond counts in the first or last one, what is not finite in none.
/// ArgumentError for count < 1, or a high that is not above low by a finite number.
std::vector<int64_t> histogram(std::span<const double> values, const HistogramBins& bins);

}  // namespace priornet
