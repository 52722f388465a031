#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "tool/report/figure.h"

// The simplex of categoricals over three classes as an equilateral triangle, one corner per class: the paper's figures
// 1 and 2.

namespace priornet {

struct SimplexPanel {
  std::string title;
  torch::Tensor logits;  ///< [3] or undefined: shade by the density Dir(mu; exp logits)
  torch::Tensor points;  ///< [M, 3] or undefined: categoricals drawn as points
};

/// The panels side by side, on one colour scale with its bar if any of them is shaded.
Figure draw_simplexes(const std::vector<SimplexPanel>& panels);

/// Where a categorical [N, 3] lies in the plane, [N, 2]: corners (0.5, sqrt(3)/2), (0, 0) and (1, 0).
torch::Tensor to_plane(const torch::Tensor& categoricals);

/// The categorical at a point of the plane, [N, 3]: the inverse of to_plane. Outside the triangle some are negative.
torch::Tensor to_simplex(const torch::Tensor& points);

}  // namespace priornet
