#pragma once

#include <priornet/experiments/synthetic.h>
#include <priornet/report/figure.h>

namespace priornet {

/// The paper's figure 3, a row a sigma: entropy of the true posterior with the data, entropy and differential entropy
/// of the DPN.
Figure draw_figure3(const SyntheticResult& result);

/// The same for the DNN, and the DPN's mutual information: entropy of the DNN, its differential entropy when its
/// logits are read as a Dirichlet's, mutual information of the DPN.
Figure draw_comparison(const SyntheticResult& result);

/// The paper's figure 1: an ensemble as points on the simplex, and the distribution it is drawn from.
Figure draw_figure1(uint64_t seed);

/// The paper's figure 2: what a Prior Network should give for a confident prediction, for high data uncertainty, and
/// out of distribution.
Figure draw_figure2();

}  // namespace priornet
