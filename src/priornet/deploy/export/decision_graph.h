#pragma once

#include <priornet/deploy/decision.h>
#include <priornet/deploy/export/operators.h>

namespace priornet::graph {

struct DecisionValues {
  Value p_value;  ///< float64 [N]
  Value verdict;  ///< int64 [N]: a Verdict
};

/// The rule of decide() (deploy/decision.h); `scores`: float64 [N], one a watch, in their order.
DecisionValues decision_values(const OperatingPoints& points, const std::vector<Value>& scores);

}  // namespace priornet::graph
