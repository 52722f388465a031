#pragma once

#include <priornet/experiments/synthetic.h>
#include <priornet/report/figure.h>

namespace priornet {

/// The paper's figure 3, a row a sigma: entropy of the true posterior with the data, entropy and differential entropy
/// of the DPN.
Figure draw_figure3(const SyntheticResult& result);

/// What figure 3 leaves out, a row a sigma: entropy of the DNN; the two parts of the DPN's entropy, expected entropy
/// (data uncertainty) and mutual information (distributional uncertainty).
Figure draw_comparison(const SyntheticResult& result);

/// The paper's figure 1: an ensemble as points on the simplex, and the distribution it is drawn from.
Figure draw_figure1(uint64_t seed);

/// The paper's figure 2: what a Prior Network should give for a confident prediction, for high data uncertainty, and
/// out of distribution.
Figure draw_figure2();

}  // namespace priornet
