#pragma once

#include <priornet/deploy/export/graph.h>
#include <priornet/models/network.h>

namespace priornet::graph {

/// The network's logits, float32 [N, K] each, of inputs as it takes them: one value without dropout, or
/// `dropout_samples` with dropout at work, from the first dropout on. Its tensors are named PREFIX + conv1.weight, say.
std::vector<Value> network_logits(const Network& network, const Value& inputs, int64_t dropout_samples,
                                  const std::string& prefix);

}  // namespace priornet::graph
