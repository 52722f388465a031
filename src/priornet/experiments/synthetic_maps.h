#pragma once

#include <priornet/experiments/synthetic.h>

#include <string>

namespace priornet {

/// The maps of figure 3 and of its comparison as a report draws them, JSON: {"seed", "half_side", "side", "cases"}, a
/// case a sigma with the classes' `means`, the radius of its data region, some training points [x, y, class], and
/// `maps` by title: 96 x 96 means of the cells, row 0 the lowest, a byte each from `low` to `high`, in base64. Maps of
/// one measure share their range.
std::string maps_json(const SyntheticResult& result);

}  // namespace priornet
