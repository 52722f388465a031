#pragma once

#include <priornet/deploy/export/operators.h>

#include <string>
#include <utility>
#include <vector>

namespace priornet::graph {

using NamedValues = std::vector<std::pair<std::string, Value>>;

/// The measures of scores_of_logits (runs/scoring.h), float64 [N] each, of float64 logits: [N, K], or [M, N, K] of
/// `members` = M > 0. Without I[mu, theta], which is an estimate from draws.
NamedValues measure_values(const Value& logits, bool dirichlet, int64_t members, int64_t classes);

/// e^logits over their sum, along the last axis.
Value softmax(const Value& logits);

/// Mean KL[Dir_i || Dir_j] over all pairs of members, float64 [N], of float64 logits [M, N, K].
Value mean_divergence(const Value& logits, int64_t classes);

}  // namespace priornet::graph
