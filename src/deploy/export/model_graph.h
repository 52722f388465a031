#pragma once

#include <priornet/deploy/model_export.h>
#include <priornet/deploy/model_file.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/decision.h>

#include "deploy/export/graph.h"

namespace priornet::graph {

/// The network's logits, float32 [N, K] each, of inputs as it takes them: one value without dropout, or
/// `dropout_samples` with dropout at work, from the first dropout on. Its tensors are named PREFIX + conv1.weight, say.
std::vector<Value> network_logits(const Classifier& classifier, const Value& inputs, int64_t dropout_samples,
                                  const std::string& prefix);

struct DecisionValues {
  Value p_value;  ///< float64 [N]
  Value verdict;  ///< int64 [N]: a Verdict
};

/// The rule of decide() (decision.h); `scores`: float64 [N], one per watch, in their order; `prediction`: int64 [N].
DecisionValues decision_values(const OperatingPoints& points, const std::vector<Value>& scores,
                               const Value& prediction);

/// Adds a whole model: preprocessing, networks, measures, decision.
/// Input `images` [N, C, H, W], or `rows` float32 [N, D]. Outputs `prediction` int64 [N]; `probability` [N] and
/// `probabilities` [N, K], calibrated; each measure [N] by its name; `logits` float32 [N, K], or [M, N, K] of M members
/// and dropout samples; with operating points `p_value` [N] and `verdict` int64 [N]. Float64 unless said otherwise.
/// ArgumentError for a model that watches a measure the graph has not.
void add_model(Graph& graph, const ModelFile& model, ImageInput input);

/// What a file says beside the graph: class and verdict names, provenance, as texts or JSON.
std::map<std::string, std::string> model_metadata(const ModelFile& model);

}  // namespace priornet::graph
