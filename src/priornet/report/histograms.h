#pragma once

#include <priornet/report/figure.h>
#include <torch/types.h>

#include <string>
#include <vector>

// How a score spreads over several sets: a panel a score, a line a set.

namespace priornet {

struct HistogramLine {
  std::string title;
  torch::Tensor values;  ///< float64 [N] on the CPU
};

struct HistogramPanel {
  std::string title;
  std::string axis;  ///< what the values are
  std::vector<HistogramLine> lines;
};

/// The share of each line's values in 50 bins, panels one above the other. The bins reach from the least to the
/// greatest value of the panel, but for a thousandth of each line on either side, which counts in the first and last
/// bin. A line of the same title has the same colour in all panels. Values that are not finite are left out.
/// ArgumentError without a panel, or for one without a finite value.
Figure draw_histograms(const std::vector<HistogramPanel>& panels);

}  // namespace priornet
