#pragma once

#include <string>

#include "tool/experiments/synthetic.h"
#include "tool/report/figure.h"

namespace priornet {

/// The paper's figure 3, one row per sigma: entropy of the true posterior with the data, entropy and differential
/// entropy of the DPN.
Figure draw_figure3(const SyntheticResult& result);

/// What figure 3 leaves out, one row per sigma: entropy of the DNN; the two parts of the DPN's entropy, expected
/// entropy (data uncertainty) and mutual information (distributional uncertainty).
Figure draw_comparison(const SyntheticResult& result);

/// The paper's figure 1: an ensemble as points on the simplex, and the distribution it is drawn from.
Figure draw_figure1(uint64_t seed);

/// The paper's figure 2: what a Prior Network should give for a confident prediction, for high data uncertainty, and
/// out of distribution.
Figure draw_figure2();

/// The maps of figure 3 and of its comparison as a report draws them, JSON: {"seed", "half_side", "side", "cases"}, one
/// case per sigma with the classes' `means`, the radius of its data region, some training points [x, y, class], and
/// `maps` by title: 96 x 96 means of the cells, row 0 the lowest, one byte each from `low` to `high`, in base64. Maps
/// of one measure share their range.
std::string maps_json(const SyntheticResult& result);

}  // namespace priornet
