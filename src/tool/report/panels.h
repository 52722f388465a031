#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "tool/report/figure.h"

// A grid of square heat maps over the same square of the plane, each with its colour bar.

namespace priornet {

struct ColourScale {
  ColourMap map = ColourMap::kViridis;
  ColourRange range;
  double tick = 0.25;  ///< distance of the ticks on the bar
  std::string unit;    ///< written over the bar
};

/// Points drawn over a heat map.
struct PointCloud {
  torch::Tensor points;  ///< [N, 2]
  std::string colour;    ///< "#rrggbb"
};

struct Panel {
  std::string title;
  torch::Tensor values;  ///< [S, S], values at the centres of S x S cells of the square; row 0 is the lowest
  ColourScale scale;
  std::vector<PointCloud> clouds;
  torch::Tensor outline;  ///< [N, 2] or undefined: a dashed line; a NaN row interrupts it
  std::string outline_colour = "#ffffff";
};

struct PanelRow {
  std::string title;
  std::vector<Panel> panels;  ///< the same number in every row
};

/// Each axis runs from -half_side to half_side.
Figure draw_panels(const std::vector<PanelRow>& rows, double half_side);

/// The centres of the side x side cells of the square, [side * side, 2] in the order of Panel::values.
torch::Tensor cell_centres(int64_t side, double half_side);

}  // namespace priornet
